// gives: ["neg", "zero", "pos", 3, ["1", "b", "a"]]
const kind = (x) => { switch (true) { case x < 0: return 'neg'; case x === 0: default: return 'zero'; case x > 0: return 'pos' } }
let n = 0; do n++; while (n < 3)
const keys = []; for (const k in { b: 1, a: 2, 1: 3 }) keys.push(k)
return [kind(-1), kind(0), kind(1), n, keys]
