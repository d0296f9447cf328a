// gives: [true, 6, 3, [2, 4, 6]]
class Stack extends Array { top() { return this.at(-1) } }
const s = Stack.of(1, 2, 3).map((x) => x * 2)
;[s instanceof Stack, s.top(), s.length, [...s]]
