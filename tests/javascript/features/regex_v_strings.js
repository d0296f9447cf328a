// gives: [["👨‍👩‍👧", "x"], true, false]
// since: 2024
['#️⃣ 👨‍👩‍👧 x'.match(/[\q{abc|👨‍👩‍👧}x]/gv), /^\p{RGI_Emoji}$/v.test('👨‍👩‍👧'), /^\p{Emoji}$/u.test('👨‍👩‍👧')]
