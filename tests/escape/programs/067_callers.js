// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: nothing
function own() { try { return own.caller ?? arguments.callee.caller } catch { return null } }
const said = []
Object.prototype.toJSON = own
for (const f of [() => own(), () => [1].map(own)[0], () => console.log.caller, () => { try { return callTool.caller } catch { return null } }]) {
  let found = null
  try { found = f() } catch {}
  if (typeof found === 'function' && /paddock|primordial|bridge|emit/.test(found.toString())) console.log('HOLE')
}
console.log('nothing')
