// gives: [1, 2]
class A {
  static x = 1
  static #y
  static { this.#y = this.x + 1; this.z = () => this.#y }
}
[A.x, A.z()]
