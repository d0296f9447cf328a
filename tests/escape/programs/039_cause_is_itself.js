// expect: namespaces=raised; chroot=raised; confined=raised
// error: Error
// says: x
const error = new Error('x')
error.cause = error
error.errors = [error]
throw error
