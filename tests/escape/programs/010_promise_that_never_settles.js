// expect: namespaces=raised; chroot=raised; confined=raised
// error: Error
// says: waits for something that never happens
await new Promise(() => {})
