// gives: [[1, 2, 3], ["aa", "bb"]]
// since: 2026
[await Array.fromAsync([1, Promise.resolve(2), 3]), await Array.fromAsync({ length: 2, 0: 'a', 1: Promise.resolve('b') }, async (x) => x + x)]
