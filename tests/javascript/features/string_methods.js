// gives: ["c", "a+b+c", "abx", " t|", true, 2, 128512, "😀", ["a", "b"], "abab", "ab", 1]
['abc'.at(-1), 'a-b-c'.replaceAll('-', '+'), 'x'.padStart(3, 'ab'), ' t '.trimEnd() + '|', 'abc'.includes('b'), 'é'.normalize('NFD').length, '😀'.codePointAt(0), String.fromCodePoint(128512), 'a,b'.split(','), 'ab'.repeat(2), 'abc'.substring(2, 0), 'b'.localeCompare('a')]
