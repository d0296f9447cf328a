// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.7 memory_bytes=536870912
const { Worker } = require('worker_threads')
for (let i = 0; i < 3; i++) new Worker('for (;;);', { eval: true })
await new Promise(() => setInterval(() => {}, 1000))
