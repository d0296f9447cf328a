// gives: [6, {"value": 7, "done": false}, "none"]
// since: 2025
const list = [5, 6, 7].values()
;[list.find((n) => n > 5), list.next(), [].values().find(() => true) ?? 'none']
