// gives: [true, {"done": true}, true, true]
// since: 2025
const counted = (function* () { yield 1; yield 2; yield 3 })()
;[counted.some((n) => n === 2), counted.next(), [2, 4].values().every((n) => n % 2 === 0), [].values().every(() => false)]
