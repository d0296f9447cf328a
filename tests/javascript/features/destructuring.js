// gives: {"a": 1, "c": 5, "rest": {"d": 2, "e": 3}, "others": {"f": 4}, "x": 1, "y": 7, "z": [3, 4], "p": 2, "q": 1}
const { a, b: { c = 5, ...rest } = {}, ...others } = { a: 1, b: { d: 2, e: 3 }, f: 4 }
const [x, , y = 7, ...z] = [1, 2, undefined, 3, 4]
let p = 1, q = 2;
[p, q] = [q, p]
return { a, c, rest, others, x, y, z, p, q }
