// gives: ["done", 5, 6]
// since: 2024
const { promise, resolve } = Promise.withResolvers()
setTimeout(resolve, 1, 'done')
return [await promise, await Promise.try(() => 5), await Promise.try((a) => a, 6)]
