// gives: [6, "SS", 2, "ǆ", 8, 2, true, "🚀"]
const größe = 1, 变量 = 2, \u0061b = 3
;[größe + 变量 + ab, 'ß'.toUpperCase(), 'İ'.toLowerCase().length, 'Ǆ'.toLowerCase(), '👨‍👩‍👧'.length, [...'👍🏽'].length, 'z\u0301'.normalize('NFC') === 'ź', '\u{1F680}']
