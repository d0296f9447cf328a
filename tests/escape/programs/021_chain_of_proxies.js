// expect: namespaces=ok|out_of_memory; chroot=ok|out_of_memory; confined=ok|out_of_memory
let chain = {}
for (let i = 0; i < 200_000; i++) chain = new Proxy(chain, {})
try { chain.x } catch {}
try { Object.keys(chain) } catch {}
try { chain instanceof Array } catch {}
let inherited = {}
for (let i = 0; i < 200_000; i++) inherited = Object.create(inherited)
try { inherited.x } catch {}
let bound = () => 1
for (let i = 0; i < 100_000; i++) bound = bound.bind()
try { bound() } catch {}
console.log('done')
