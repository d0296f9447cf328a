// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// limits: memory_bytes=67108864
const kept = []
for (;;) {
  const buffer = new ArrayBuffer(0, { maxByteLength: 1 << 22 })
  buffer.resize(1 << 22)
  new Uint8Array(buffer).fill(1)
  kept.push(buffer)
}
