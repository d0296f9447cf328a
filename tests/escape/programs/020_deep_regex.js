// expect quickjs: namespaces=ok|timeout; chroot=ok|timeout; confined=ok|timeout
// expect node: namespaces=timeout|out_of_memory|crashed; chroot=timeout|out_of_memory|crashed; confined=timeout|out_of_memory|crashed
// limits: wall_seconds=0.8
for (const text of ['('.repeat(1e5) + ')'.repeat(1e5), '(?='.repeat(5e4) + ')'.repeat(5e4), '[^'.repeat(1e5), 'a{1,2}'.repeat(1e4)]) {
  try {
    new RegExp(text).test('a'.repeat(100))
  } catch {}
}
console.log('done')
