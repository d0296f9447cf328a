// expect: namespaces=raised; chroot=raised; confined=raised
// error: TypeError
// says: nobody
Promise.reject(new TypeError('nobody'))
await new Promise((done) => setTimeout(done, 10))
return 'HOLE'
