// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: done
const loop = {}; loop.loop = loop
let deep = {}; for (let i = 0; i < 1e5; i++) deep = { deep }
const trap = new Proxy({}, { ownKeys() { throw new Error('trap') } })
for (const given of [loop, deep, trap, { a: 1n ** 5n }, { get a() { throw 1 } }, { toJSON() { throw 2 } }, 5, 'x', [1], new Map(), () => 1, { a: '\ud800'.repeat(10) }]) {
  try { const call = callTool('none', given); call.catch?.(() => {}) } catch {}
}
for (const name of ['', 'x'.repeat(1e6), '\0', '../x', {}, null, Symbol('s'), { toString() { throw 3 } }]) {
  try { const call = callTool(name, {}); call.catch?.(() => {}) } catch {}
}
console.log('done')
