// gives: [{"x": 1}, {"p": {"x": 1}}]
class P { #x = 1; get x() { return this.#x } toJSON() { return { x: this.x } } }
JSON.parse(JSON.stringify([new P(), { p: new P() }]))
