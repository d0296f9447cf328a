// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
const fs = require('fs')
const garbage = Buffer.alloc(1 << 16, 0xa7)
for (let fd = 3; fd < 64; fd++) {
  try { if (fs.fstatSync(fd).isSocket()) fs.writeSync(fd, garbage) } catch {}
}
for (;;);
