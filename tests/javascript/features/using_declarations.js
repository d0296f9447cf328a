// gives: ["body", "b", "a"]
// since: 2026
const log = []
{
  using a = { [Symbol.dispose]() { log.push('a') } }
  using b = { [Symbol.dispose]() { log.push('b') } }
  log.push('body')
}
return log
