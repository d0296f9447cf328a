// gives: [2, 2, ["NaN", "b"], 2, 2]
const m = new Map([['a', 1]]).set(NaN, 2).set('b', 3)
m.delete('a')
;[m.size, m.get(NaN), [...m.keys()].map(String), [...new Set([1, '1', 1])].length, [...m.entries()].length]
