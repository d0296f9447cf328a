// gives: [["a1", "a2", "b3"]]
// since: 2025
[new Map([['a', [1, 2]], ['b', [3]]]).entries().flatMap(([key, list]) => list.map((n) => key + n)).toArray()]
