// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const said = new Set()
const attempts = [
  () => process.setuid(0), () => process.setgid(0), () => process.setgroups([0]), () => process.seteuid(0),
  () => process.initgroups('root', 0), () => require('fs').chownSync('/tmp', 0, 0), () => require('fs').lchownSync('/files', 0, 0),
  () => require('os').setPriority(process.pid, -20),
]
for (const attempt of attempts) {
  try {
    attempt()
    console.log('HOLE', attempt)
  } catch (error) {
    said.add(['EPERM', 'EACCES', 'ENOSYS', 'ENOENT', 'EROFS', 'EINVAL'].includes(error.info?.code ?? error.code) ? 'refused' : `${error.code} ${attempt}`)
  }
}
console.log(...said)
