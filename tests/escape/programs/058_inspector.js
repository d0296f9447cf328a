// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: closed
const inspector = require('inspector')
try { inspector.open(0, '127.0.0.1', false) } catch {}
try { process.kill(process.pid, 'SIGUSR1') } catch {}
console.log('closed')
