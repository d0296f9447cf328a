// gives: [["a", "b", "c"], ["z", "a", "b"], "b"]
// since: 2023
const like = { length: 3, 0: 'c', 1: 'a', 2: 'b' }
;[Array.prototype.toSorted.call(like), Array.prototype.with.call(like, 0, 'z'), Array.prototype.findLast.call(like, (x) => x > 'a')]
