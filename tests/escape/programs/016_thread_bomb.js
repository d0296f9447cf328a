// expect: namespaces=ok|out_of_memory|crashed|timeout; chroot=ok|out_of_memory|crashed|timeout; confined=ok|out_of_memory|crashed|timeout
// engines: node
// limits: wall_seconds=4 memory_bytes=268435456
const { Worker } = require('worker_threads')
let started = 0
for (let i = 0; i < 500; i++) {
  try {
    const worker = new Worker('setInterval(() => {}, 1000)', { eval: true })
    worker.on('online', () => started++)
    worker.on('error', () => {})
  } catch {}
}
await new Promise((done) => setTimeout(done, 1000))
if (started > 100) console.log('HOLE', started)
