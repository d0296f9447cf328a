// gives: ["body", "b", "a"]
const log = []
{
  using a = { [Symbol.dispose]() { log.push('a') } }
  using b = { [Symbol.dispose]() { log.push('b') } }
  log.push('body')
}
return log
