// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: not root
let status = ''
try { status = require('fs').readFileSync('/proc/self/status', 'utf8') } catch {}
const field = (name) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]
if (status !== '' && (field('NoNewPrivs') !== '1' || field('Seccomp') !== '2' || !/^0+$/.test(field('CapEff')))) console.log('HOLE', status)
console.log([process.getuid(), process.geteuid(), process.getgid(), process.getegid()].includes(0) ? 'HOLE' : 'not root')
