// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: before
// output: 5
console.log('before')
console = { log() { throw 1 } }
codeExec = callTool = reportProgress = readFile = null
globalThis.Promise = class {}
globalThis.JSON = { stringify: () => 'HOLE' }
globalThis.Object = globalThis.Array = globalThis.String = null
return 5
