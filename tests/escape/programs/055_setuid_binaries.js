// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// machine: x86_64
// stdout: []
// stdout: setuid EPERM
// stdout: no new privileges 1
// stdout chroot: setuid EPERM
// stdout chroot: no new privileges 1
// stdout confined: setuid EPERM
// stdout confined: EPERM
// why confined: the host's own binaries are there, and nothing can be executed
const { readFileSync, writeFileSync } = require('fs')
const { spawnSync } = require('child_process')
const { tmpdir } = require('os')

// One that is there lies on a file system where the bit means nothing; after exec it would mean nothing either.
if (PROFILE === 'namespaces') {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').trim().split('\n').map((line) => line.split(' '))
  console.log(mounts.filter(([, , , options]) => !options.split(',').includes('nosuid')).map(([, path]) => path))
}
// A program that ends with what prctl(PR_GET_NO_NEW_PRIVS) says.
const code = 'b89d000000bf2700000031f631d24531d24531c00f0589c7b83c0000000f05'
const made = Buffer.alloc(120 + code.length / 2)
made.write('7f454c46020101', 'hex')
made.write('02003e000100000078004000000000004000000000000000', 16, 'hex')
made.write('400038000100', 52, 'hex')
made.write('0100000005000000', 64, 'hex')
made.write('0000400000000000', 80, 'hex')
made.write('0000400000000000', 88, 'hex')
made.writeUInt32LE(made.length, 96)
made.writeUInt32LE(made.length, 104)
made.writeUInt32LE(4096, 112)
made.write(code, 120, 'hex')
try {
  writeFileSync(`${tmpdir()}/paddock-escape-setuid`, made, { mode: 0o6755 })
  console.log('HOLE')
} catch ({ code }) {
  console.log('setuid', code)
}
writeFileSync(`${tmpdir()}/paddock-escape`, made, { mode: 0o755 })
const { error, signal, status } = spawnSync(`${tmpdir()}/paddock-escape`)
console.log(error?.code ?? `no new privileges ${signal ?? status}`)
