// gives: ["a0", "b1"]
// since: 2025
const seen = []
'ab'[Symbol.iterator]().forEach((letter, at) => seen.push(letter + at))
seen
