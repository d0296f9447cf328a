// expect: namespaces=ok|out_of_memory; chroot=crashed; confined=ok|out_of_memory
// engines: node
// limits: memory_bytes=134217728
// One file cannot exceed the limit. In `chroot`, several files can, until the next check of the disk ends the guest.
const fs = require('fs')
const block = Buffer.alloc(1 << 20, 1)
for (const folder of ['/tmp', '/dev/shm', process.env.TMPDIR]) {
  let written = 0
  try {
    for (; written < 1024; written++) fs.appendFileSync(`${folder}/paddock-escape`, block)
    console.log('HOLE', folder)
  } catch {}
}
if (PROFILE === 'chroot') for (;;);
