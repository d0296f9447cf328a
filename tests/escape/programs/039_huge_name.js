// expect: namespaces=raised; chroot=raised; confined=raised
const error = new Error('x'.repeat(1e6))
error.name = 'N'.repeat(1e6)
error.stack = 'S'.repeat(1e6)
throw error
