// gives: [["return", "return", "x", "return"], "RangeError"]
// since: 2025
const log = []
const source = { next: () => ({ done: false, value: 1 }), return() { log.push('return'); return {} }, __proto__: Iterator.prototype }
for (const n of source.map((n) => n)) break
try { source.map(() => { throw new Error('x') }).next() } catch (error) { log.push(error.message) }
let kind
try { source.take(-1) } catch (error) { kind = error.name }
[log, kind]
