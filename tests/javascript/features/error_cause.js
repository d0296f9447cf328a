// gives: ["outer", true, false, []]
try {
  try { null.x } catch (e) { throw new Error('outer', { cause: e }) }
} catch (e) { return [e.message, e.cause instanceof TypeError, 'cause' in new Error('x'), Object.keys(e)] }
