// gives: [[-1, -5, 0, 3, "NaN"], [10, 9, 1]]
// since: 2023
[new Float64Array([3, -0, 0, NaN, -1]).toSorted().map((x) => (Object.is(x, -0) ? -5 : x)), new Int16Array([10, 9, 1]).toSorted((a, b) => b - a)]
