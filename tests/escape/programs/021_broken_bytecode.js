// expect: namespaces=ok; chroot=ok; confined=ok
// output: 1
// engines: node
const v8 = require('v8')
try { v8.setFlagsFromString('--allow-natives-syntax') } catch {}
for (let i = 0; i < 200; i++) {
  try {
    v8.deserialize(Buffer.from(Array.from({ length: 40 }, (_, j) => (i * 31 + j * 17) % 256)))
  } catch {}
}
const { Script } = require('vm')
const cached = new Script('1', { produceCachedData: true }).cachedData
for (let i = 0; i < cached.length; i += 7) cached[i] ^= 0xff
new Script('1', { cachedData: cached }).runInThisContext()
