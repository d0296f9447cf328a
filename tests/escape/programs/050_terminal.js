// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: /dev/tty ENOENT
// stdout: /dev/console ENOENT
// stdout: /dev/ptmx ENOENT
// stdout: /dev/pts ENOENT
// stdout: /dev/vda ENOENT
// stdout: /dev/mem ENOENT
// stdout: /dev/kmsg ENOENT
// stdout: /dev/fuse ENOENT
// stdout: /dev/kvm ENOENT
// stdout: isatty false
// stdout: raw refused
// stdout confined: /dev/tty closed
// stdout confined: /dev/console closed
// stdout confined: /dev/ptmx closed
// stdout confined: /dev/pts closed
// stdout confined: /dev/vda closed
// stdout confined: /dev/mem closed
// stdout confined: /dev/kmsg closed
// stdout confined: /dev/fuse closed
// stdout confined: /dev/kvm closed
// stdout confined: isatty false
// stdout confined: raw refused
// why confined: /dev is the host's, and closed
const { closeSync, constants, openSync } = require('fs')
const tty = require('tty')

for (const name of ['tty', 'console', 'ptmx', 'pts', 'vda', 'mem', 'kmsg', 'fuse', 'kvm']) {
  try {
    closeSync(openSync(`/dev/${name}`, constants.O_RDONLY | constants.O_NOCTTY))
    console.log('HOLE', name)
  } catch ({ code }) {
    // Of the host's own devices some are not there, and the others closed.
    console.log(`/dev/${name}`, PROFILE === 'confined' && ['EACCES', 'ENOENT'].includes(code) ? 'closed' : code)
  }
}
console.log('isatty', [0, 1, 2].some((fd) => tty.isatty(fd)))
const made = [0, 1, 2].filter((fd) => {
  try {
    new tty.ReadStream(fd).setRawMode(true)
    return true
  } catch {
    return false
  }
})
console.log('raw', made.length ? `HOLE ${made}` : 'refused')
