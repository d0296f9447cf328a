// gives: [[9, 25, 49], 6, true, [1, 1, 2, 2], 6, true]
// since: 2025
function* n() { let i = 0; while (true) yield i++ }
[n().filter((x) => x % 2).map((x) => x * x).drop(1).take(3).toArray(), n().take(4).reduce((a, b) => a + b), n().some((x) => x > 5), Iterator.from([1, 2]).flatMap((x) => [x, x]).toArray(), [5, 6].values().find((x) => x > 5), n().take(3).every((x) => x < 3)]
