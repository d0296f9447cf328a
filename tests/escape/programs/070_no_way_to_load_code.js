// expect: namespaces=ok; chroot=ok; confined=ok
// engines: quickjs
// stdout: undefined undefined undefined undefined TypeError
const said = [typeof require, typeof process, typeof eval, typeof globalThis.std]
try {
  await import('fs')
  said.push('HOLE')
} catch (error) {
  said.push(error.name)
}
console.log(...said)
