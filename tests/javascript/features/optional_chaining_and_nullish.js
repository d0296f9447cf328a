// gives: [4, null, null, "d", 0, true, true]
const o = { a: { f() { return this.v }, v: 4 }, n: null }
;[o?.a?.f?.(), o.x?.y.z, o.n?.[0], o.n ?? 'd', 0 ?? 1, delete o?.a, o.x?.() === undefined]
