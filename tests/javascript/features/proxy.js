// gives: [["b"], ["get a", "set b", "has a", "delete a", "keys"]]
const log = []
const p = new Proxy({ a: 1 }, {
  get(t, k, r) { log.push(`get ${String(k)}`); return Reflect.get(t, k, r) },
  has(t, k) { log.push(`has ${k}`); return k in t },
  set(t, k, v) { log.push(`set ${k}`); t[k] = v; return true },
  deleteProperty(t, k) { log.push(`delete ${k}`); return delete t[k] },
  ownKeys(t) { log.push('keys'); return Reflect.ownKeys(t) },
})
p.b = p.a + 1; 'a' in p; delete p.a
return [Object.keys(p), log]
