// gives: [3.140625, -2, 16968, 192]
// since: 2025
const view = new DataView(new ArrayBuffer(4))
view.setFloat16(0, 3.140625)
view.setFloat16(2, -2, true)
;[view.getFloat16(0), view.getFloat16(2, true), view.getUint16(0), view.getUint8(3)]
