// gives: [1, true, true, false, "TypeError"]
// since: 2023
const key = Symbol('k')
const map = new WeakMap([[key, 1]])
const set = new WeakSet([key])
let kind
try { map.set(Symbol.for('shared'), 1) } catch (error) { kind = error.name }
[map.get(key), set.has(key), map.delete(key), map.has(key), kind]
