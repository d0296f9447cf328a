// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: RangeError RangeError RangeError RangeError
const kinds = []
const bottomless = [
  () => { const a = { toString: () => `${a}` }; return `${a}` },
  () => { const f = () => [1].map(f); f() },
  () => { const s = () => [2, 1].sort(() => s()); s() },
  () => { const r = () => 'a'.replace(/a/, r); r() },
]
for (const each of bottomless) {
  try {
    each()
    kinds.push('HOLE')
  } catch (error) {
    kinds.push(error.name)
  }
}
console.log(...kinds)
