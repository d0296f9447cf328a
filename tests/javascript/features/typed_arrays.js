// gives: [[1.5, 2], [255, 0], 64, -56, [3, 4], [2, 3], [1, 2, 3], 8, [2, 3]]
const f = new Float32Array([1.5, 2]), u = new Uint8ClampedArray([300, -1]), v = new DataView(new ArrayBuffer(8))
v.setInt16(0, -2); v.setFloat64(0, Math.PI)
;[[...f], [...u], v.getUint8(0), new Int8Array([200])[0], f.map((x) => x * 2), Uint16Array.from([1, 2], (x) => x + 1), [...new Uint8Array([3, 1, 2]).toSorted()], f.byteLength, [...new Uint8Array([1, 2, 3]).subarray(1)]]
