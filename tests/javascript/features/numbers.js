// gives: [true, 9007199254740991, 0.30000000000000004, 2, -2, "-Infinity", 0, -1, -4, 31, 12, 3, 5.5, 3, -4, -6, true]
[Number.EPSILON > 0, Number.MAX_SAFE_INTEGER, 0.1 + 0.2, 5 % -3, -5 % 3, 1 / -0, Math.round(-0.5), Math.sign(-3), Math.trunc(-4.7), Math.clz32(1), Math.imul(3, 4), Math.log2(8), Math.fround(5.5), 7 >>> 1, -7 >> 1, ~5, Number.isInteger(5.0)]
