// gives: [false, "a�", true, 2, 1]
// since: 2024
['a\ud800'.isWellFormed(), 'a\ud800'.toWellFormed(), 'ok'.isWellFormed(), '\ud83d\ude00'.length, [...'\ud83d\ude00'].length]
