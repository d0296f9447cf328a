// gives: [[1, "x", 3], [1, 2, "y"], [1, 2, 3], "RangeError"]
// since: 2023
const list = [1, 2, 3]
let kind
try { list.with(3, 1) } catch (error) { kind = error.name }
[list.with(1, 'x'), list.with(-1, 'y'), list, kind]
