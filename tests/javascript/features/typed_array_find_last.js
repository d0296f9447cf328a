// gives: [300, 2, "none"]
// since: 2023
const list = new Uint16Array([1, 20, 300, 4])
;[list.findLast((n) => n > 10), list.findLastIndex((n) => n > 10), list.findLast((n) => n > 1000) ?? 'none']
