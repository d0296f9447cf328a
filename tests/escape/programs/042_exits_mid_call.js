// expect: namespaces=raised; chroot=raised; confined=raised
// engines: node
// stdout: calling
hang()
await new Promise((done) => setTimeout(done, 50))
console.log('calling')
process.exit(3)
