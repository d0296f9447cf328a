// expect: namespaces=ok; chroot=ok; confined=ok
// engines: node
// stdout: refused refused refused refused refused
const net = require('net')
const dgram = require('dgram')
const said = []
const tried = (begin) => new Promise((done) => {
  try { begin(done) } catch { done('refused') }
  setTimeout(done, 2000, 'refused')
})
said.push(await tried((done) => net.connect(53, '1.1.1.1').on('connect', () => done('HOLE')).on('error', () => done('refused'))))
said.push(await tried((done) => net.connect(80, '169.254.169.254').on('connect', () => done('HOLE')).on('error', () => done('refused'))))
said.push(await tried((done) => { const s = dgram.createSocket('udp4'); s.on('error', () => done('refused')); s.send('x', 53, '1.1.1.1', (e) => done(e ? 'refused' : 'HOLE')) }))
said.push(await tried((done) => require('dns').lookup('example.com', (e) => done(e ? 'refused' : 'HOLE'))))
said.push(await fetch('http://example.com').then(() => 'HOLE', () => 'refused'))
console.log(...said)
