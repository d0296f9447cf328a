// gives: [true, 8, [7, 0, 0, 0], [7], 1]
// since: 2024
const buffer = new ArrayBuffer(2, { maxByteLength: 8 })
const view = new Uint8Array(buffer)
view[0] = 7
buffer.resize(4)
const grown = [...view]
buffer.resize(1)
;[buffer.resizable, buffer.maxByteLength, grown, [...view], view.length]
