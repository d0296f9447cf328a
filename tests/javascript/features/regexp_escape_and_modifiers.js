// gives: [true, false, true, false]
[/(?i:a)b/.test('Ab'), /(?i:a)b/.test('AB'), new RegExp(RegExp.escape('a.b')).test('a.b'), new RegExp(RegExp.escape('a.b')).test('axb')]
