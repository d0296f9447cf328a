// gives: [["a"], false, true]
// since: 2024
['aé1'.match(/[\p{L}&&\p{ASCII}]/gv), /[[a-z]&&[x-z]]/v.test('b'), /[[a-z]&&[x-z]]/v.test('y')]
