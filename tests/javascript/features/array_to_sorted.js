// gives: [["C", "a", "b", null], ["b", "a", "C", null], ["b", "a", null, "C"], [1, 10, 9]]
// since: 2023
const list = ['b', 'a', undefined, 'C']
;[list.toSorted(), list.toSorted((a, b) => (a < b ? 1 : -1)), list, [10, 9, 1].toSorted()]
