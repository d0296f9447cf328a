// expect: namespaces=ok|out_of_memory; chroot=crashed; confined=ok|out_of_memory
// engines: node
// limits: memory_bytes=134217728
// Node does not let SIGXFSZ be ignored: a file that is too large ends it.
const fs = require('fs')
const block = Buffer.alloc(1 << 20, 1)
for (const folder of ['/tmp', '/dev/shm', process.env.TMPDIR]) {
  let written = 0
  try {
    for (; written < 1024; written++) fs.appendFileSync(`${folder}/paddock-escape`, block)
    console.log('HOLE', folder)
  } catch {}
}
