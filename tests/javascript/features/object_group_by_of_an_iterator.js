// gives: {"odd": [3, 5], "even": [4]}
// since: 2024
Object.groupBy((function* () { yield 3; yield 4; yield 5 })(), (n) => (n % 2 ? 'odd' : 'even'))
