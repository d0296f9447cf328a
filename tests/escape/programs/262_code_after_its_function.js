// expect: namespaces=rejected; chroot=rejected; confined=rejected
// engines: quickjs
// error: SyntaxError
// says: unbalanced brackets
1}}, globalThis.x = 5, function () { return async function () { return x
