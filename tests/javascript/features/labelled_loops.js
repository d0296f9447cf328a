// gives: [[0, 0], [1, 0], "in"]
const seen = []
outer: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; seen.push([i, j]) } }
block: { seen.push('in'); if (seen.length) break block; seen.push('never') }
return seen
