// expect: namespaces=ok; chroot=ok; confined=ok
// output: {"a": [1, "b"]}
Object.prototype.toJSON = () => 'HOLE'
Array.prototype.toJSON = () => 'HOLE'
String.prototype.toJSON = () => 'HOLE'
Number.prototype.toJSON = () => 'HOLE'
return { a: [1, 'b'] }
