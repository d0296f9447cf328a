// gives: [{"a": 1, "b": 2}, [["x", 1]], true, false, ["a", "b"], true]
[Object.fromEntries(new Map([['a', 1], ['b', 2]])), Object.entries({ x: 1 }), Object.hasOwn({ y: 1 }, 'y'), Object.is(-0, 0), Object.values('ab'), Object.isFrozen(Object.freeze({}))]
