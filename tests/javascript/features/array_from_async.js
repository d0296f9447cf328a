// gives: [10, 20]
// since: 2026
await Array.fromAsync((async function* () { yield 1; yield 2 })(), async (x) => x * 10)
