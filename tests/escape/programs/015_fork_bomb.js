// expect: namespaces=timeout|out_of_memory; chroot=timeout|out_of_memory; confined=timeout
// engines: node
// limits: wall_seconds=1 memory_bytes=268435456 processes=20
// why confined: it starts no other program
const { spawn } = require('child_process')
for (;;) {
  try {
    spawn('/bin/sh', ['-c', 'sleep 100 & sleep 100 & sleep 100']).on('error', () => {})
  } catch {}
}
