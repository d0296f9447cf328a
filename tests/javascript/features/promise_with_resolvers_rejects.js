// gives: [true, "RangeError"]
// since: 2024
class Own extends Promise {}
const { promise, reject } = Own.withResolvers()
reject(new RangeError('no'))
;[promise instanceof Own, await promise.catch((error) => error.name)]
