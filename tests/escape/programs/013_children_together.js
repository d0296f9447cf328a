// expect: namespaces=ok|out_of_memory; chroot=ok|out_of_memory; confined=ok
// engines: node
// limits: memory_bytes=268435456 wall_seconds=20
// why confined: it starts no other program
const { spawnSync } = require('child_process')
const eat = 'const kept = []; for (let i = 0; i < 150; i++) kept.push(Buffer.alloc(1 << 20, 1)); console.log("HO" + "LE")'
const command = `${process.execPath} -e '${eat}' & ${process.execPath} -e '${eat}' & wait`
let said = ''
try {
  said = `${spawnSync('/bin/sh', ['-c', command]).stdout ?? ''}`
} catch {}
if (said === 'HOLE\nHOLE\n') console.log('HOLE')
