// expect: namespaces=ok; chroot=ok; confined=ok
// stdout: { a: [ 1, 2 ] }
// output: {"a": [1, 2], "b": "c", "d": "1970-01-01T00:00:00.000Z", "m": {"k": [1]}}
const value = { a: [1, 2], b: 'c', d: new Date(0), m: new Map([['k', new Set([1])]]) }
const wrong = () => 'wrong'
for (const holder of [JSON, Map.prototype, Set.prototype, Object, Number, Math, WeakMap.prototype, Symbol.prototype]) {
  for (const key of Reflect.ownKeys(holder)) if (key !== 'constructor') try { holder[key] = wrong } catch {}
}
for (const key of ['push', 'map', 'join', 'forEach', 'indexOf', 'slice', 'keys', 'entries']) Array.prototype[key] = wrong
for (const key of ['slice', 'replace', 'split', 'startsWith', 'includes', 'indexOf', 'charCodeAt', 'padEnd']) String.prototype[key] = wrong
for (const key of ['exec', 'test', Symbol.replace, Symbol.split]) RegExp.prototype[key] = wrong
for (const key of ['then', 'catch', 'finally']) Promise.prototype[key] = wrong
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = Function.prototype.toString = wrong
Reflect.apply = Reflect.ownKeys = wrong
console.log({ a: [1, 2] })
return value
