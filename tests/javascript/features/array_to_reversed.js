// gives: [[3, 2, 1], [1, 2, 3], [3, null, 1]]
// since: 2023
const list = [1, 2, 3]
;[list.toReversed(), list, [1, , 3].toReversed()]
