// gives: [true, "known"]
// since: 2023
const key = Symbol('k')
;[new WeakRef(key).deref() === key, new WeakMap([[Symbol.iterator, 'known']]).get(Symbol.iterator)]
