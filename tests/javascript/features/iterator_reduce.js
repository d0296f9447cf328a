// gives: [6, "abc", "TypeError"]
// since: 2025
let kind
try { [].values().reduce((a, b) => a + b) } catch (error) { kind = error.name }
[[1, 2, 3].values().reduce((a, b) => a + b), ['b', 'c'].values().reduce((a, b) => a + b, 'a'), kind]
