// Replaces every built-in that a script can reach by one that notes its use and does the same, then does STAGE.
// Gives the names of those that were used meanwhile, other than by this script itself.
const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
const used = Object.setPrototypeOf([], null)
let isNoting = false

function note(name) {
  if (!isNoting) return
  for (let i = 0; i < used.length; i++) if (used[i] === name) return
  used[used.length] = name
}

const classes = {
  Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, Function, Map, Number, Object, Promise, RegExp, Set,
  String, Symbol, Uint8Array, WeakMap, WeakSet, WeakRef, TypedArray: getPrototypeOf(Uint8Array), ToolError,
}
if (typeof Buffer === 'function') {
  Object.assign(classes, {
    Buffer, EventEmitter: require('events'), Readable: require('stream').Readable, Socket: require('net').Socket,
  })
}
const holders = [['JSON', JSON], ['Math', Math], ['Reflect', Reflect]]
for (const name in classes) holders.push([name, classes[name]], [`${name}.prototype`, classes[name].prototype])
for (const iterator of [[].values(), new Map().values(), new Set().values(), ''[Symbol.iterator]()]) {
  holders.push([iterator[Symbol.toStringTag], getPrototypeOf(iterator)])
}
const FIXED = ['constructor', 'prototype', 'name', 'length', 'prepareStackTrace', 'stackTraceLimit', 'stack']

for (const [name, holder] of holders) {
  for (const key of ownKeys(holder)) {
    const { configurable, enumerable, get, set, value } = getOwnPropertyDescriptor(holder, key)
    const called = `${name}.${String(key)}`
    if (!configurable || FIXED.includes(key)) continue
    if (get) {
      defineProperty(holder, key, {
        __proto__: null, configurable, enumerable, set, get() { note(called); return apply(get, this, []) },
      })
    } else if (typeof value === 'function' && ownKeys(value.prototype ?? {}).length < 2) {
      defineProperty(holder, key, {
        __proto__: null, configurable, enumerable, writable: true,
        value: function (...given) {
          note(called)
          return new.target ? construct(value, given) : apply(value, this, given)
        },
      })
    }
  }
}
for (const key of ['0', 'value', 'get', 'set', 'text', 'failed', 'level', 'line', 'column', 'id', 'header', 'body']) {
  defineProperty(Object.prototype, key, {
    __proto__: null,
    configurable: true,
    get() { note(`Object.prototype.${key}`) },
    set(given) { defineProperty(this, key, { __proto__: null, value: given, writable: true, configurable: true }) },
  })
}

const shown = { a: [1, 'x', { b: null }], c: undefined }
isNoting = true
STAGE
isNoting = false
return used.length === 0 ? 'none' : JSON.stringify({ used: { ...used } })
