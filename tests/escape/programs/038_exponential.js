// expect: namespaces=timeout|out_of_memory; chroot=timeout|out_of_memory; confined=timeout|out_of_memory
// limits: wall_seconds=1 memory_bytes=67108864
let x = ['a']
for (let i = 0; i < 60; i++) x = [x, x]
return x
