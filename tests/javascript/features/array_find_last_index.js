// gives: [3, -1, 12]
// since: 2023
const list = [5, 12, 50, 130, 44]
;[list.findLastIndex((n) => n > 45), list.findLastIndex((n) => n > 200), list.findLast((n, at) => at < 2)]
