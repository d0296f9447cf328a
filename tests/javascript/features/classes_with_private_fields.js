// gives: [2, 2, 1, true, false, []]
class Counter {
  #n = 0
  static #made = 0
  constructor() { Counter.#made++ }
  #step() { return ++this.#n }
  next() { return this.#step() }
  get n() { return this.#n }
  static get made() { return Counter.#made }
  static is(value) { return #n in value }
}
const c = new Counter()
c.next()
;[c.next(), c.n, Counter.made, Counter.is(c), Counter.is({}), Object.keys(c)]
