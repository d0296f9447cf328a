// gives: [[3, 2, 4], [7, 2, 8], 0, 0]
// since: 2024
const buffer = new ArrayBuffer(4, { maxByteLength: 8 })
const all = new Uint8Array(buffer, 1), fixed = new Uint8Array(buffer, 0, 2), view = new DataView(buffer)
const before = [all.length, fixed.length, view.byteLength]
buffer.resize(8)
const after = [all.length, fixed.length, view.byteLength]
buffer.resize(1)
;[before, after, all.length, fixed.length]
