// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: nothing of the host
for (const [name, value] of Object.entries(process.env)) if (/PADDOCK_SECRET|KEY|TOKEN|terces/.test(name + value)) console.log('HOLE', name)
for (const path of ['/proc/self/environ', '/proc/self/cmdline']) {
  try {
    if (/PADDOCK_SECRET/.test(require('fs').readFileSync(path, 'latin1'))) console.log('HOLE', path)
  } catch {}
}
console.log('nothing of the host')
