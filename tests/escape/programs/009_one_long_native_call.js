// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25 memory_bytes=536870912
const numbers = new Float64Array(2_000_000).map((_, i) => (i * 7919) % 1_000_003)
for (;;) numbers.toSorted()
