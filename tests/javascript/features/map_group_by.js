// gives: {"odd": [1, 3], "even": [2, 4]}
// since: 2024
const m = Map.groupBy([1, 2, 3, 4], (x) => (x % 2 ? 'odd' : 'even'))
m
