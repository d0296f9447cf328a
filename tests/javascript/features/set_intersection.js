// gives: [2, 4]
// since: 2025
[...new Set([1, 2, 3, 4]).intersection(new Set([4, 2, 9]))].toSorted()
