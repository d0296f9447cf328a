// gives: [[1, 2, 3, 4], [3], [1, 2], [1, 2, 4], false, true, true]
// since: 2025
const a = new Set([1, 2, 3]), b = new Set([3, 4])
;[a.union(b), a.intersection(b), a.difference(b), a.symmetricDifference(b), a.isSubsetOf(b), a.isDisjointFrom(new Set([9])), a.isSupersetOf(new Set([1]))]
