// gives: ["SuppressedError", "disposing", "body"]
// since: 2026
const log = []
try {
  using a = { [Symbol.dispose]() { throw new Error('disposing') } }
  throw new Error('body')
} catch (error) {
  log.push(error.name, error.error.message, error.suppressed.message)
}
log
