// gives: [[3, 2, 1], [1, 2, 3], "Uint8Array", false]
// since: 2023
const bytes = new Uint8Array([1, 2, 3])
const other = bytes.toReversed()
;[[...other], [...bytes], other.constructor.name, other.buffer === bytes.buffer]
