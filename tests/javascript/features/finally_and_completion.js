// gives: ["try", "catch 1", "g"]
// prints: "finally 0\nfinally 1\n1\n2\n"
const f = (x) => { try { if (x) throw x; return 'try' } catch (e) { return `catch ${e}` } finally { console.log('finally', x) } }
const g = () => { for (const i of [1, 2]) { try { continue } finally { console.log(i) } } return 'g' }
[f(0), f(1), g()]
