// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: object function undefined null symbol bigint number object object stored object object stored
// stdout: 1
// What would call back, never end, or is only called bytes. Of it only the typed array and the view are content.
const endless = { toString() { for (;;) ; }, valueOf() { for (;;) ; }, toJSON() { for (;;) ; } }
const contents = [
  endless, () => 1, undefined, null, Symbol('s'), 1n, 5, new Promise(() => {}), [1], new DataView(new ArrayBuffer(1)),
  new Proxy(new Uint8Array(1), {}), { [Symbol.toStringTag]: 'Uint8Array', length: 2 ** 40 }, new Uint16Array(1),
]
const said = []
for (const content of contents) {
  const { error } = await codeExec.createArtifact('paddock-escape', content)
  said.push(error === undefined ? 'stored' : error.split(' ').at(-1))
}
console.log(...said)
class Longer extends Uint8Array { get length() { return 2 ** 40 } get byteLength() { return 2 ** 40 } }
console.log((await codeExec.createArtifact('paddock-escape', new Longer(1))).size)
