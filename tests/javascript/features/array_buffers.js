// gives: [true, 6, true, [2, 3]]
const b = new ArrayBuffer(4, { maxByteLength: 8 })
new Uint8Array(b).set([1, 2, 3, 4])
b.resize(6)
const moved = b.transfer()
;[b.detached, moved.byteLength, moved.resizable, [...new Uint8Array(moved.slice(1, 3))]]
