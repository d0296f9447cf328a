// expect: namespaces=raised; chroot=raised; confined=raised
// error: RangeError
setTimeout(async () => { throw new RangeError('late') }, 1)
await new Promise((done) => setTimeout(done, 100))
return 'HOLE'
