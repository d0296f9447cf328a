// gives: ["body", "b", "a"]
// since: 2026
const log = []
{
  await using a = { async [Symbol.asyncDispose]() { await null; log.push('a') } }
  await using b = { [Symbol.dispose]() { log.push('b') } }
  await using none = null
  log.push('body')
}
log
