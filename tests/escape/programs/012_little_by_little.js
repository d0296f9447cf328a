// expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// limits: memory_bytes=67108864
// stdout: started
console.log('started')
const kept = []
for (;;) kept.push({ a: [kept.length, `${kept.length}`] })
