// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: no file of the host
const fs = require('fs')
for (let fd = 0; fd < 1024; fd++) {
  let found
  try { found = fs.fstatSync(fd) } catch { continue }
  if (found.isFile() || found.isDirectory() || found.isBlockDevice()) console.log('HOLE', fd, found.mode.toString(8))
}
console.log('no file of the host')
