// gives: ["ab�c", true, "%EF%BF%BD"]
// since: 2024
['ab\ud800c'.toWellFormed(), '\ud83d\ude00'.toWellFormed() === '😀', encodeURI('\udc00'.toWellFormed())]
