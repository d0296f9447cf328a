// expect: namespaces=ok; chroot=ok; confined=ok
// limits: memory_bytes=67108864
// stdout: RangeError RangeError
const said = []
for (const make of [() => new ArrayBuffer(2 ** 53), () => 'x'.repeat(2 ** 31)]) {
  try {
    make()
    said.push('HOLE')
  } catch (error) {
    said.push(error.name)
  }
}
console.log(...said)
