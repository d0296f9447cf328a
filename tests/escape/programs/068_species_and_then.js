// expect: namespaces=ok; chroot=ok; confined=ok
// output: [2, 4]
Object.defineProperty(Array, Symbol.species, { get() { return Array } })
Object.defineProperty(Promise, Symbol.species, { value: class extends Promise { constructor(f) { super(f) } } })
Object.prototype.then = undefined
const result = [1, 2].map((x) => x * 2)
return result
