// gives: [10, 21, 32]
// since: 2025
[1, 2, 3].values().map((n, at) => n * 10 + at).toArray()
