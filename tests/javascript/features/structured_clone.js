// gives: [true, true, true, false, true, "g", "RangeError", "bad", [1]]
const d = new Date(0), shared = { n: 1 }
const o = structuredClone({ d, m: new Map([['k', new Set([1])]]), a: [shared, shared], u: undefined, r: /x/g, e: new RangeError('bad'), b: new Uint8Array([1]) })
o.self = 5
return [o.d instanceof Date, o.m.get('k').has(1), o.a[0] === o.a[1], o.a[0] === shared, 'u' in o, o.r.flags, o.e.name, o.e.message, o.b]
