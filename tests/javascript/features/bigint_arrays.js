// gives: [[1, -1], 18446744073709551615]
[new BigInt64Array([1n, -1n]), new BigUint64Array([-1n])[0]]
