// gives: [true, false, true]
// since: 2025
[new Set([1]).isSubsetOf(new Set([1, 2])), new Set([1, 3]).isSubsetOf(new Set([1, 2])), new Set().isSubsetOf(new Set())]
