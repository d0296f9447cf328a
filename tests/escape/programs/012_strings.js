// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// limits: memory_bytes=67108864
const kept = []
for (let i = 0; ; i++) kept.push(`${i}`.padStart(10_000, 'ä'))
