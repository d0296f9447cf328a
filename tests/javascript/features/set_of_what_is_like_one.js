// gives: [[1, 2, 5], [1], ["TypeError", "TypeError", "RangeError"]]
// since: 2025
const like = { size: 2, has: (value) => value === 1, keys: () => [1, 5].values() }
const kinds = []
for (const other of [[1], { size: NaN, has() {}, keys() {} }, { size: -1, has() {}, keys() {} }]) {
  try { new Set([1]).union(other) } catch (error) { kinds.push(error.name) }
}
[[...new Set([1, 2]).union(like)], [...new Set([1, 2]).intersection(like)], kinds]
