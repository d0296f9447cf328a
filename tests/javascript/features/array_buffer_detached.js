// gives: [0, "gone", true, "TypeError"]
// since: 2024
const buffer = new ArrayBuffer(4)
const view = new Uint8Array(buffer)
buffer.transfer()
let kind
try { buffer.slice(0) } catch (error) { kind = error.name }
[view.length, view[0] ?? 'gone', buffer.detached, kind]
