// gives: [[1, "a", "b", "c", 4], [1, 2, 3], [0, 1, 2, 3, 4], [1, 2, 3, 4]]
// since: 2023
const list = [1, 2, 3, 4]
;[list.toSpliced(1, 2, 'a', 'b', 'c'), list.toSpliced(-1), list.toSpliced(0, 0, 0), list]
