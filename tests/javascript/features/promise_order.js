// gives: ["async", "sync", "then 1", "microtask", "after await", "then 2", "timeout"]
const log = []
setTimeout(() => log.push('timeout'), 0)
Promise.resolve().then(() => log.push('then 1')).then(() => log.push('then 2'))
queueMicrotask(() => log.push('microtask'))
;(async () => { log.push('async'); await null; log.push('after await') })()
log.push('sync')
await new Promise((done) => setTimeout(done, 5))
return log
