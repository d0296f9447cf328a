// gives: [[1, 4, 4], [1, 0, 0], 1, 9, 2, [[0, 1], [1, 2]], [3, 2, 1, 0], [2, 3]]
const a = [5, 1, 4]
;[a.copyWithin(0, 1), [1, 2, 3].fill(0, 1), Array.of(7).length, a.reduceRight((x, y) => x + y), [1, 2, 3].lastIndexOf(3), [...[1, 2].entries()], [3, 2].concat([1], 0), [1, 2, 3].splice(1)]
