// gives: [false, true, true, true]
// since: 2024
[/^[\p{L}--[a-z]]$/v.test('a'), /^[\p{L}--[a-z]]$/v.test('B'), /[\p{ASCII}&&\d]/v.test('5'), /^\p{Script=Greek}+$/u.test('αβ')]
