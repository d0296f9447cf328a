// expect: namespaces=raised; chroot=raised; confined=raised
// error: RangeError
// says: nested too deeply
let x = 1
for (let i = 0; i < 1_000_000; i++) x = { x }
return x
