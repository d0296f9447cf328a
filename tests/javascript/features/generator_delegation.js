// gives: [1, 2, "b"]
// prints: "left\n"
function* a() { const r = yield* b(); yield r }
function* b() { try { yield 1; yield 2 } finally { console.log('left') } return 'b' }
[...a()]
