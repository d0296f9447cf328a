// expect: namespaces=raised; chroot=raised; confined=raised
// error: RangeError
// says: is an integer of
9n ** 100_000n
