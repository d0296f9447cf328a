// gives: [false, false, false, true]
// since: 2023
class Own extends Array {}
const own = Own.from([2, 1])
;[own.toSorted() instanceof Own, own.toReversed() instanceof Own, own.with(0, 9) instanceof Own, own.map((x) => x) instanceof Own]
