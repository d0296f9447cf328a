// gives: [[2, 1], true]
// since: 2026
const log = []
const stack = new DisposableStack()
stack.defer(() => log.push(1)); stack.defer(() => log.push(2))
stack.dispose()
return [log, stack.disposed]
