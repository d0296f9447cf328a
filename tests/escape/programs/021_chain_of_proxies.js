// expect quickjs: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
// expect node: namespaces=ok; chroot=ok; confined=ok
// stdout node: done
let chain = {}
for (let i = 0; i < 200_000; i++) chain = new Proxy(chain, {})
try { chain.x } catch {}
try { Object.keys(chain) } catch {}
try { chain instanceof Array } catch {}
let inherited = {}
for (let i = 0; i < 200_000; i++) inherited = Object.create(inherited)
try { inherited.x } catch {}
let bound = () => 1 // quickjs makes all their names: 'bound bound bound …'
for (let i = 0; i < 100_000; i++) bound = bound.bind()
try { bound() } catch {}
console.log('done')
