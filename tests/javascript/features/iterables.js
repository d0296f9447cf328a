// gives: [[1, 2, 3], 3, [2, 4, 6], 3]
const range = { from: 1, to: 3, *[Symbol.iterator]() { for (let i = this.from; i <= this.to; i++) yield i } }
;[[...range], Math.max(...range), Array.from(range, (x) => x * 2), new Set(range).size]
