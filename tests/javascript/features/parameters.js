// gives: [[1, 2, null, []], [1, 2, 3, [4, 5]], 1, 2]
const f = (a, { b = 2, c } = {}, ...rest) => [a, b, c, rest]
function g() { return arguments.length }
[f(1), f(1, { c: 3 }, 4, 5), f.length, g(1, undefined)]
