// gives: [[1, 2, 3], [2, 1, 3], [3, "x", "y", 2], [3, 1, 9], [3, 1, 2]]
// since: 2023
const a = [3, 1, 2]
;[a.toSorted(), a.toReversed(), a.toSpliced(1, 1, 'x', 'y'), a.with(-1, 9), a]
