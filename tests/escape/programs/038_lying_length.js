// expect: namespaces=timeout|out_of_memory|output_limit; chroot=timeout|out_of_memory|output_limit; confined=timeout|out_of_memory|output_limit
// limits: wall_seconds=1 memory_bytes=67108864
new Proxy([], { get: (target, key) => (key === 'length' ? 2 ** 53 - 1 : 1) })
