// expect: namespaces=raised|timeout|out_of_memory; chroot=raised|timeout|out_of_memory; confined=raised|timeout|out_of_memory
// limits: wall_seconds=1
const error = new Error('x')
for (let i = 0; i < 100_000; i++) error[`key${i}`] = { i, nested: [[[[error]]]] }
throw error
