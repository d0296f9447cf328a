// expect: namespaces=ok; chroot=ok; confined=ok
// engines: quickjs
// stdout: nothing
const seen = new Set([globalThis]), ahead = [globalThis]
while (ahead.length > 0) {
  const at = ahead.pop()
  for (const key of Reflect.ownKeys(at)) {
    if (/paddock|quickjs|python|socket|emit\b/i.test(String(key))) console.log('HOLE', String(key))
    const own = Reflect.getOwnPropertyDescriptor(at, key)
    for (const value of [own.value, own.get, own.set, Object.getPrototypeOf(at)]) {
      if ((typeof value === 'object' || typeof value === 'function') && value !== null && !seen.has(value)) { seen.add(value); ahead.push(value) }
    }
  }
}
console.log('nothing')
