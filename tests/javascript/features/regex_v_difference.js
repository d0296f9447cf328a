// gives: [true, false, ".1.2"]
// since: 2024
[/^[\p{L}--[a-z]]+$/v.test('ÄB'), /^[\p{L}--[a-z]]+$/v.test('Äb'), 'a1b2'.replace(/[\w--\d]/gv, '.')]
