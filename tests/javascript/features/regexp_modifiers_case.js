// gives: [true, false, true, false]
// since: 2025
[/^(?i:a)b$/.test('Ab'), /^(?i:a)b$/.test('AB'), /^a(?-i:b)$/i.test('Ab'), /^a(?-i:b)$/i.test('AB')]
