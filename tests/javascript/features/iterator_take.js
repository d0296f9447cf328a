// gives: [0, 1, 2]
// prints: "closed\n"
// since: 2025
function* endless() { let n = 0; try { for (;;) yield n++ } finally { console.log('closed') } }
[...endless().take(3)]
