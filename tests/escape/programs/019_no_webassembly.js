// expect: namespaces=ok; chroot=ok; confined=ok
// engines: quickjs
// output: "undefined"
typeof globalThis.WebAssembly
