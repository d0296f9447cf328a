// gives: [["second", "first"], true]
// since: 2026
const log = []
const stack = new AsyncDisposableStack()
stack.defer(async () => { await null; log.push('first') })
stack.use({ [Symbol.dispose]() { log.push('second') } })
await stack.disposeAsync()
;[log, stack.disposed]
