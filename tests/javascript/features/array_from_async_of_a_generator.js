// gives: [[30, 11, 22], 1]
// since: 2026
async function* slowly() { for (const n of [3, 1, 2]) { await null; yield n } }
[await Array.fromAsync(slowly(), (n, at) => n * 10 + at), await Array.fromAsync(new Set([1])).then((list) => list.length)]
