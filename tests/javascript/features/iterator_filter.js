// gives: ["a", "c"]
// since: 2025
new Set(['a', 'bb', 'c']).values().filter((word) => word.length === 1).toArray()
