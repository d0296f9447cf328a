// gives: ["TypeError", "RangeError", "RangeError"]
// since: 2024
const kinds = []
for (const attempt of [() => new ArrayBuffer(1).resize(2), () => new ArrayBuffer(1, { maxByteLength: 2 }).resize(3), () => new ArrayBuffer(4, { maxByteLength: 2 })]) {
  try { attempt(); kinds.push('done') } catch (error) { kinds.push(error.name) }
}
kinds
