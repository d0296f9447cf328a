// gives: [["first"], "first"]
// since: 2024
const { promise, resolve } = Promise.withResolvers()
const log = []
promise.then((value) => log.push(value))
resolve('first')
resolve('second')
await promise
;[log, await promise]
