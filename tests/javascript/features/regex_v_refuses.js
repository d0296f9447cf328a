// gives: ["SyntaxError", "SyntaxError"]
// since: 2024
const kinds = []
for (const flags of ['uv', 'v']) {
  try { new RegExp('[a(]', flags); kinds.push('made') } catch (error) { kinds.push(error.name) }
}
kinds
