// gives: ["BA3", true, "[object Bee]", "B", true, true]
class A { constructor(n) { this.n = n } hi() { return `A${this.n}` } static make(n) { return new this(n) } }
class B extends A { hi() { return `B${super.hi()}` } get [Symbol.toStringTag]() { return 'Bee' } }
const b = B.make(3)
;[b.hi(), b instanceof A, String(b), B.name, Object.getPrototypeOf(B) === A, new.target === undefined]
