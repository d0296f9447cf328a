// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.7
const { spawn } = require('child_process')
for (let i = 0; i < 3; i++) {
  try {
    spawn(process.execPath, ['-e', 'for (;;);']).on('error', () => {})
  } catch {}
}
for (;;);
