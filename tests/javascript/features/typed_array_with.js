// gives: [[2, 2, 3], [1, 2, 7], [1, 2, 3], "RangeError"]
// since: 2023
const list = new Int32Array([1, 2, 3])
let kind
try { list.with(9, 1) } catch (error) { kind = error.name }
[list.with(0, 2.9), list.with(-1, '7'), list, kind]
