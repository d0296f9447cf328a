// gives: [[9, 4, 1], "TypeError", "[object Iterator]"]
// since: 2025
class Countdown extends Iterator {
  n = 3
  next() { return { done: this.n === 0, value: this.n-- } }
}
let kind
try { new Iterator() } catch (error) { kind = error.name }
[new Countdown().map((n) => n * n).toArray(), kind, Object.prototype.toString.call(new Countdown())]
