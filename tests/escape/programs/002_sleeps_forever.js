// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=2
// stdout: started
console.log('started')
await new Promise((done) => setTimeout(done, 1e9))
