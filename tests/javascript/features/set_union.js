// gives: [[3, 1, 2], true]
// since: 2025
const made = new Set([3, 1]).union(new Set([2, 3]))
;[[...made], made instanceof Set]
