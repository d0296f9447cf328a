// gives: [["a!", "b"], 3]
const log = []
setTimeout(() => log.push('b'), 10)
setTimeout((x, y) => log.push(x + y), 1, 'a', '!')
const gone = setTimeout(() => log.push('never'), 1)
clearTimeout(gone)
let n = 0
await new Promise((done) => {
  const every = setInterval(() => { if (++n === 3) { clearInterval(every); done() } }, 1)
})
await new Promise((done) => setTimeout(done, 30))
return [log, n]
