// gives: [["it", "deferred"], true, true]
// since: 2026
const log = []
const stack = new DisposableStack()
stack.defer(() => log.push('deferred'))
stack.adopt('it', (what) => log.push(what))
const moved = stack.move()
stack.dispose === moved.dispose && moved.dispose()
;[log, stack.disposed, moved.disposed]
