// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: refused
const said = new Set()
for (const path of [...HOST_PATHS, '/files/../etc/shadow', '../etc/shadow', '/proc/1/environ', '/files//../../etc/shadow']) {
  try {
    readFile(path)
    console.log('HOLE', path)
  } catch (error) {
    said.add(['ENOENT', 'EACCES'].includes(error.code) ? 'refused' : `${error.code} ${path}`)
  }
}
console.log(...said)
