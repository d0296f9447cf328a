// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused
const net = require('net')
const said = new Set()
for (const path of HOST_SOCKETS) {
  said.add(await new Promise((done) => {
    try {
      const end = net.connect({ path })
      end.on('connect', () => done('HOLE'))
      end.on('error', (error) => done(['ENOENT', 'ECONNREFUSED', 'EPERM', 'EACCES'].includes(error.code) ? 'refused' : error.code))
    } catch (error) {
      done(error.code === 'EPERM' ? 'refused' : `${error.code}`)
    }
  }))
}
console.log(...said)
