// gives: [["a"], []]
// since: 2025
[[...new Set(['a', 'b']).difference(new Set(['b', 'c']))], [...new Set([NaN, 0]).difference(new Set([NaN, -0]))]]
