// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// engines: node
// limits: memory_bytes=134217728
const kept = []
for (;;) kept.push(Buffer.alloc(1 << 20, 1))
