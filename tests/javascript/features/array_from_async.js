// gives: [10, 20]
await Array.fromAsync((async function* () { yield 1; yield 2 })(), async (x) => x * 10)
