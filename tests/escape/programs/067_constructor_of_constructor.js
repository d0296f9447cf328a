// expect: namespaces=ok; chroot=ok; confined=ok
// engines: quickjs
// stdout: undefined undefined undefined undefined undefined
const global = (() => {}).constructor.constructor('return this')()
console.log(typeof global.process, typeof global.require, typeof global.eval, typeof global.emit, typeof global.parts)
