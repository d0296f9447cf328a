// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const fs = require('fs')
const said = new Set()
for (const path of ['/proc/1/mem', '/proc/1/environ', '/proc/1/maps', `/proc/${HOST_PID}/environ`, `/proc/${HOST_PID}/mem`, '/proc/1/root/etc/shadow', '/proc/1/cwd/x', '/dev/mem', '/proc/kcore']) {
  try {
    fs.readFileSync(path)
    console.log('HOLE', path)
  } catch (error) {
    said.add(['ENOENT', 'EACCES', 'EPERM', 'EIO'].includes(error.code) ? 'refused' : `${error.code} ${path}`)
  }
}
console.log(...said)
