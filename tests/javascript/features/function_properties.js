// gives: [1, "f", "g", "m", "bound f", ["constructor"], "string", "AsyncFunction", "x1"]
function f(a, b = 1, ...c) {}
const g = () => {}
;[f.length, f.name, g.name, (class { static m() {} }).m.name, f.bind(null, 1).name, Object.getOwnPropertyNames(function () {}.prototype), typeof f.toString(), (async () => {}).constructor.name, ({ ['x' + 1]() {} }).x1.name]
