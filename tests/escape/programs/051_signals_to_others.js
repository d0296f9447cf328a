// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const said = new Set()
for (const pid of [1, HOST_PID, -HOST_PID, process.ppid, -1]) {
  if (pid === process.pid || (pid === -1)) continue
  try {
    process.kill(pid, 0)
    if (pid !== 0) console.log('HOLE', pid)
  } catch (error) {
    said.add(['EPERM', 'ESRCH'].includes(error.code) ? 'refused' : error.code)
  }
}
console.log(...said)
