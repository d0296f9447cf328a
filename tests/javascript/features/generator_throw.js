// gives: [{"value": "caught x", "done": false}, {"done": true}]
function* g() { try { yield 1 } catch (e) { yield `caught ${e}` } }
const it = g()
it.next()
;[it.throw('x'), it.next()]
