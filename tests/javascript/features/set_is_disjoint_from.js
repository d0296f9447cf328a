// gives: [true, false, true]
// since: 2025
[new Set([1, 2]).isDisjointFrom(new Set([3])), new Set([1, 2]).isDisjointFrom(new Set([2])), new Set().isDisjointFrom(new Set())]
