// expect: namespaces=ok; chroot=ok; confined=ok
// stdout namespaces: ENOSPC
// stdout chroot: EFBIG
// stdout confined: EFBIG
// why confined: a file may not be as large as the space, and that is found first
// engines: node
const fs = require('fs')
const block = Buffer.alloc(1 << 20)
let said = 'HOLE'
try {
  for (let i = 0; i < 600; i++) fs.appendFileSync(`${process.env.TMPDIR ?? '/tmp'}/paddock-escape`, block)
} catch (error) {
  said = error.code
}
console.log(said)
