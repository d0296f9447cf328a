// expect quickjs: namespaces=ok; chroot=ok; confined=ok
// output quickjs: {"a": [1, 2], "b": "c"}
// expect node: namespaces=raised; chroot=raised; confined=raised
// says node: broken
// Node itself uses Array.prototype.pop when a callback has ended.
const broken = () => { throw new Error('broken') }
const { ownKeys, defineProperty } = Reflect
const holders = [
  Array.prototype, Map.prototype, Set.prototype, WeakMap.prototype, Promise.prototype, String.prototype, RegExp.prototype,
  Function.prototype, Object, Reflect, JSON, Math, Number, Symbol.prototype, Array, Promise, Error.prototype,
  Uint8Array.prototype, Date.prototype, Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries()),
]
for (let i = 0; i < holders.length; i++) {
  const keys = ownKeys(holders[i])
  for (let j = 0; j < keys.length; j++) {
    if (keys[j] !== 'constructor') try { defineProperty(holders[i], keys[j], { value: broken }) } catch {}
  }
}
return { a: [1, 2], b: 'c' }
