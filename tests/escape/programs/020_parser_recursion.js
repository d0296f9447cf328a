// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: done
const texts = ['('.repeat(1e5), '['.repeat(1e5) + ']'.repeat(1e5), '!'.repeat(1e5) + '1', '{'.repeat(1e5), 'a=>'.repeat(1e5) + '1', '`${'.repeat(1e5), 'x?'.repeat(1e5)]
for (const text of texts) {
  try {
    new Function(`return ${text}`)
  } catch {}
}
console.log('done')
