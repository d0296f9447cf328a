// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: an artifact may be at most 16 MB; this one is larger
// stdout: true 8388608
// Memory that was never touched costs nothing to have; what is kept of it counts here.
const holes = new ArrayBuffer(48 << 20)
const whole = await codeExec.createArtifact('paddock-escape.bin', new Uint8Array(holes))
const part = await codeExec.createArtifact('paddock-escape.bin', new Uint8Array(holes, 0, 8 << 20))
console.log(whole.error)
console.log(part.success, part.size)
