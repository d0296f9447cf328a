// gives: [true, false, true, false]
// since: 2025
[/(?m:^b$)/.test('a\nb'), /^b$/.test('a\nb'), /a(?s:.)b/.test('a\nb'), /a(?-s:.)b/s.test('a\nb')]
