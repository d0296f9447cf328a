// expect: namespaces=ok|timeout|out_of_memory|raised; chroot=ok|timeout|out_of_memory|raised; confined=ok|timeout|out_of_memory|raised
// limits: wall_seconds=1 memory_bytes=67108864
const deeper = () => new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: (_, key) => (key === 'a' ? deeper() : undefined) })
deeper()
