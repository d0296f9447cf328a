// gives: [1, "end 1", 2, "end 2"]
// since: 2026
const log = []
for (using each of [1, 2].map((n) => ({ n, [Symbol.dispose]() { log.push(`end ${n}`) } }))) log.push(each.n)
log
