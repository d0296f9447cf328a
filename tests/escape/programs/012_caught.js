// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// limits: memory_bytes=67108864
const kept = []
for (;;) try { kept.push(new Array(1000).fill(kept.length)) } catch {}
