// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const fs = require('fs')
const said = new Set()
for (const path of [process.execPath, '/bin/sh', '/etc/passwd', '/lib/x86_64-linux-gnu/libc.so.6', '/proc/self/exe']) {
  try {
    fs.closeSync(fs.openSync(path, 'a'))
    console.log('HOLE', path)
  } catch (error) {
    said.add(['EACCES', 'EROFS', 'ENOENT', 'EPERM', 'ETXTBSY'].includes(error.code) ? 'refused' : error.code)
  }
}
console.log(...said)
