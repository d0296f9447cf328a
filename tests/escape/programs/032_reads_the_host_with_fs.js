// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const fs = require('fs')
const said = new Set()
for (const path of HOST_PATHS) {
  for (const read of [fs.readFileSync, fs.readdirSync, fs.opendirSync]) {
    try {
      read(path)
      console.log('HOLE', path)
    } catch (error) {
      said.add(['ENOENT', 'EACCES', 'ENOTDIR', 'EISDIR'].includes(error.code) ? 'refused' : error.code)
    }
  }
}
console.log(...said)
