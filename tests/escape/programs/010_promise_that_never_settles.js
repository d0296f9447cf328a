// expect: namespaces=raised; chroot=raised; confined=raised
// error: Error
// says: awaits a promise that never settles
await new Promise(() => {})
