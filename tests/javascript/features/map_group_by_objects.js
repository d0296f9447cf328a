// gives: [[1, 3], [2], 2, 1]
// since: 2024
const odd = { odd: true }, even = { even: true }
const found = Map.groupBy([1, 2, 3], (n) => (n % 2 ? odd : even))
;[found.get(odd), found.get(even), found.size, Map.groupBy([-0, 0], (n) => n).size]
