// gives: [true, false, true, false]
// since: 2025
[/(?i:a)b/.test('Ab'), /(?i:a)b/.test('AB'), new RegExp(RegExp.escape('a.b')).test('a.b'), new RegExp(RegExp.escape('a.b')).test('axb')]
