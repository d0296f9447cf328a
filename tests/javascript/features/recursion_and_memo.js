// gives: [2880067194370816120, 9]
const fib = ((memo) => (n) => memo.get(n) ?? (memo.set(n, n < 2 ? BigInt(n) : fib(n - 1) + fib(n - 2)), memo.get(n)))(new Map())
const ack = (m, n) => (m === 0 ? n + 1 : n === 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)))
return [fib(90), ack(2, 3)]
