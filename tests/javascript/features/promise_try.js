// gives: [["at once", "after"], 3]
// since: 2025
const log = []
const made = Promise.try((a, b) => { log.push('at once'); return a + b }, 1, 2)
log.push('after')
;[log, await made]
