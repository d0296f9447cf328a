// gives: [[0, 1, 2], "function", "ReferenceError", "object"]
const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i)
var hoisted = typeof later; function later() {}
const tdz = (() => { try { x; let x = 1 } catch (e) { return e.name } })()
return [fs.map((f) => f()), hoisted, tdz, (function () { return typeof this })()]
