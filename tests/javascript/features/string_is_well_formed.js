// gives: [false, true, true, false]
// since: 2024
['ab\ud800'.isWellFormed(), 'ab\ud83d\ude00'.isWellFormed(), ''.isWellFormed(), '\udc00\ud800'.isWellFormed()]
