// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: done
for (const text of ['['.repeat(1e6), '['.repeat(1e5) + ']'.repeat(1e5), '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5)]) {
  try {
    JSON.stringify(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) console.log('other', error.name)
  }
}
console.log('done')
