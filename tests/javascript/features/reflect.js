// gives: [5, 2, true, ["b", "Symbol(s)"], true]
class A { constructor(x) { this.x = x } }
[Reflect.construct(A, [5]).x, Reflect.apply(Math.max, null, [1, 2]), Reflect.has({ a: 1 }, 'a'), Reflect.ownKeys({ b: 1, [Symbol('s')]: 2 }).map(String), Reflect.getPrototypeOf([]) === Array.prototype]
