// gives: [true, false, true]
// since: 2025
[new Set([1, 2]).isSupersetOf(new Set([2])), new Set([1]).isSupersetOf(new Set([1, 2])), new Set([1]).isSupersetOf(new Map([[1, 'a']]))]
