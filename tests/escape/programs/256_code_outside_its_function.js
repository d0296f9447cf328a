// expect: namespaces=rejected; chroot=rejected; confined=rejected
// engines: quickjs
// error: SyntaxError
// says: unbalanced brackets
let a = 1, g = 1; a++ /1}}); for (;;); (function () { return async function () { 1/g
