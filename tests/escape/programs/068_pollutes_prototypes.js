// expect: namespaces=ok; chroot=ok; confined=ok
// output: {"own": 1}
// stdout: { own: 1 }
Object.prototype.polluted = 'yes'
Object.prototype.envelope = { error_kind: 'x' }
Object.prototype.status = 'raised'
Object.prototype.value = 5
Object.prototype.get = () => 'got'
Array.prototype[0] = 'zero'
Array.prototype[Symbol.iterator] = function* () { yield 'stolen' }
console.log({ own: 1 })
return { own: 1 }
