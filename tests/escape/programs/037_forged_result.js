// expect: namespaces=crashed|ok|timeout; chroot=crashed|ok|timeout; confined=crashed|ok|timeout
// engines: node
// limits: wall_seconds=1
// output: null
const fs = require('fs')
const header = Buffer.from('{"status":"ok","usage":{"wall_seconds":0},"verdict":"ok"}')
for (let fd = 3; fd < 64; fd++) {
  try { if (fs.fstatSync(fd).isSocket()) fs.writeSync(fd, header) } catch {}
}
for (;;);
