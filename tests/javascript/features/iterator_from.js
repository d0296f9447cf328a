// gives: [[1, 0], true, ["h", "é"]]
// since: 2025
const made = Iterator.from({ left: 2, next() { return this.left-- > 0 ? { done: false, value: this.left } : { done: true } } })
;[made.toArray(), made instanceof Iterator, Iterator.from('hé').toArray()]
