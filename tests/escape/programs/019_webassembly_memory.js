// expect: namespaces=out_of_memory|raised; chroot=out_of_memory|raised; confined=out_of_memory|raised
// engines: node
// limits: memory_bytes=134217728
const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 })
for (let grown = 0; grown < 65000; grown += 100) {
  memory.grow(100)
  new Uint8Array(memory.buffer).fill(1, memory.buffer.byteLength - 100 * 65536)
}
console.log('HOLE')
