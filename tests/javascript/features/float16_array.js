// gives: [[1.099609375, 65504, "Infinity", -0.5], 2, [0, 60]]
// since: 2025
const list = new Float16Array([1.1, 65504, 65520, -0.5])
;[[...list], list.BYTES_PER_ELEMENT, [...new Uint8Array(new Float16Array([1]).buffer)]]
