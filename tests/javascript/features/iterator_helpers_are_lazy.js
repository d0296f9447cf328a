// gives: [0, ["map 1", "filter 1", "map 2", "filter 2"]]
// since: 2025
const log = []
const made = [1, 2, 3].values().map((n) => { log.push(`map ${n}`); return n }).filter((n) => { log.push(`filter ${n}`); return n > 1 })
const before = log.length
made.next()
;[before, log]
