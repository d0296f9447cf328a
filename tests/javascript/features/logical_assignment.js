// gives: {"a": 5, "b": 6, "c": 7, "d": 8}
const o = { a: 0, b: null, c: 1 }
o.a ||= 5; o.b ??= 6; o.c &&= 7; o.d ??= 8
o
