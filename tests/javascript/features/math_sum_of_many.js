// gives: "21082008.973918"
let s = 0
for (let i = 1; i <= 100000; i++) s += Math.sqrt(i)
s.toFixed(6)
