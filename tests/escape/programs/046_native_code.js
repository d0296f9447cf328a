// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const said = new Set()
const fs = require('fs')
for (const path of ['/lib/x86_64-linux-gnu/libc.so.6', process.execPath, '/tmp/paddock-escape.node']) {
  try {
    if (path.startsWith('/tmp')) fs.writeFileSync(path, Buffer.from('7f454c460201', 'hex'))
    process.dlopen({ exports: {} }, path)
    console.log('HOLE')
  } catch (error) {
    said.add('refused')
  }
}
console.log(...said)
