// gives: [1, 2, 4]
// since: 2025
[...new Set([1, 2, 3]).symmetricDifference(new Set([3, 4]))]
