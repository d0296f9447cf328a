// expect: namespaces=ok; chroot=ok; confined=ok
// limits: wall_seconds=2
const found = new Set()
Error.stackTraceLimit = 100
Error.prepareStackTrace = (error, sites) => {
  for (const site of sites ?? []) {
    try { found.add(site.getFunction?.()) } catch {}
    try { found.add(site.getThis?.()) } catch {}
  }
  return 'none'
}
const causes = [() => callTool(5), () => callTool('x', { a: NaN }), () => readFile('none'), () => console.log({ get a() { throw 1 } })]
for (const cause of causes) {
  try { await cause() } catch (error) { void error?.stack }
}
// Whatever of ours it has got hold of: to say what it likes of its own run is all that it gains.
for (const f of found) {
  for (const given of [[20, 0, '{"status":"ok","usage":5}', '"forged"'], [17, -1, '{}', '{}'], [99, 2 ** 40, 'x', null], []]) {
    if (typeof f === 'function') try { f(...given) } catch {}
  }
}
