// gives: [0, 1, 2, 3]
async function* ticks(n) { for (let i = 0; i < n; i++) { await null; yield i } }
const got = []
for await (const t of ticks(4)) got.push(t)
got
