// gives: [1267650600228229401496703205376, -3, 1, 1, 255, true, true, "bigint", "7b", 1, -1180591620717411303424]
const big = 2n ** 100n
;[big, -7n / 2n, 7n % 3n, BigInt.asUintN(8, 257n), BigInt('0xff'), 1n < 2, 2n == 2, typeof 1n, (123n).toString(16), 5n & 3n, -(1n << 70n)]
