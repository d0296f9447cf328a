// gives: [true, true, false, 2]
// since: 2024
const buffer = new ArrayBuffer(2, { maxByteLength: 16 })
const same = buffer.transfer()
const fixed = same.transferToFixedLength()
;[same.resizable, same.detached, fixed.resizable, fixed.byteLength]
