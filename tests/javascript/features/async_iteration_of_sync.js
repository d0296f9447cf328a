// gives: [1, 2]
const got = []
for await (const x of [Promise.resolve(1), 2]) got.push(x)
got
