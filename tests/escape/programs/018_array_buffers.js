// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// limits: memory_bytes=67108864
const kept = []
for (;;) kept.push(new Uint8Array(1 << 20).fill(1))
