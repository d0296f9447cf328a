// gives: ["d", "Symbol(d)", 42, "string", "default", true, "x", []]
const s = Symbol('d')
const o = { [s]: 1, [Symbol.toPrimitive]: (hint) => (hint === 'number' ? 42 : hint) }
;[s.description, s.toString(), +o, `${o}`, o + '', Symbol.for('x') === Symbol.for('x'), Symbol.keyFor(Symbol.for('x')), Object.keys(o)]
