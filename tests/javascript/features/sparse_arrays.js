// gives: [6, false, [2, null, 6, null, null, 12], ["0", "2", "5"], [1, 3, 6], "[1,null,3,null,null,6]"]
const a = [1, , 3]
a[5] = 6
;[a.length, 1 in a, a.map((x) => x * 2), Object.keys(a), a.filter(() => true), JSON.stringify(a)]
