// expect: namespaces=crashed|timeout; chroot=crashed|timeout; confined=crashed|timeout
// engines: node
// limits: wall_seconds=1
const fs = require('fs')
for (let fd = 3; fd < 64; fd++) {
  try { if (fs.fstatSync(fd).isSocket()) fs.writeSync(fd, Buffer.from([0, 0, 0, 4, 20])) } catch {}
}
for (;;);
