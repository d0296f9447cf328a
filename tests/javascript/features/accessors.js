// gives: [10, 9, ["_v", "v"], "{\"_v\":10,\"v\":10}"]
const o = { _v: 1, get v() { return this._v }, set v(x) { this._v = x * 2 } }
o.v = 5
Object.defineProperty(o, 'w', { get: () => 9, enumerable: false })
;[o.v, o.w, Object.keys(o), JSON.stringify(o)]
