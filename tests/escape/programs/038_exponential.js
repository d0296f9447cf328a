// expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
// limits: memory_bytes=67108864
let x = ['a']
for (let i = 0; i < 60; i++) x = [x, x]
return x
