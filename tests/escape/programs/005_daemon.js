// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: left
const { spawn } = require('child_process')
try {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 10)'], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
} catch {}
console.log('left')
