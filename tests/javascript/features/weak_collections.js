// gives: [1, true, false, true, false]
const k = {}, wm = new WeakMap([[k, 1]]), ws = new WeakSet([k]), wr = new WeakRef(k)
;[wm.get(k), ws.has(k), ws.has({}), wr.deref() === k, wm.has({})]
