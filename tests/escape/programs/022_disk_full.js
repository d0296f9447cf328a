// expect: namespaces=ok|out_of_memory|crashed; chroot=ok|out_of_memory|crashed; confined=ok|out_of_memory|crashed
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
