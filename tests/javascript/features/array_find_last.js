// gives: [3, -1, 3, false, true, -1]
// since: 2023
const a = [1, 2, 3, 4]
;[a.findLast((x) => x % 2), a.findLastIndex((x) => x > 9), a.at(-2), a.includes(NaN), [NaN].includes(NaN), [NaN].indexOf(NaN)]
