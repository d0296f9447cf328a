// gives: {"id": "12345678901234567890", "n": "1.0"}
// since: 2026
const found = JSON.parse('{"id": 12345678901234567890, "n": 1.0}', (key, value, { source }) => (typeof value === 'number' ? source : value))
found
