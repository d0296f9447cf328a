// gives: [[1, 2, 3, 0, 0], true, 0, false]
// since: 2024
const buffer = new Uint8Array([1, 2, 3]).buffer
const other = buffer.transfer(5)
;[[...new Uint8Array(other)], buffer.detached, buffer.byteLength, other.detached]
