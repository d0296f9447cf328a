// expect: namespaces=raised; chroot=raised; confined=raised
// error: RangeError
// says: Maximum call stack size exceeded
const f = () => [f()]
f()
