// expect: namespaces=raised; chroot=raised; confined=raised
// error: Error
throw new Error('x'.repeat(40_000_000))
