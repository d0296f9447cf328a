// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// expect quickjs: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory|timeout
// limits: memory_bytes=67108864 wall_seconds=5
// why confined: no group of the kernel's ends it: the light engine's error may be caught for ever
const kept = []
for (;;) try { kept.push(new Array(1000).fill(kept.length)) } catch {}
