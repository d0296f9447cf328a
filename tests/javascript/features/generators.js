// gives: [{"value": 0, "done": false}, {"value": 4, "done": false}, {"value": 7, "done": true}, {"done": true}, [0, 1, 2]]
function* count(to) { for (let i = 0; i < to; i++) { const got = yield i; if (got) i += got } return 'end' }
const g = count(10)
;[g.next(), g.next(3), g.return(7), g.next(), [...count(3)]]
