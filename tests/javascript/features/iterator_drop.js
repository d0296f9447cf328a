// gives: [[3], [], {"value": 1, "done": false}]
// since: 2025
[[1, 2, 3].values().drop(2).toArray(), [1].values().drop(5).toArray(), [1, 2].values().drop(0).next()]
