// gives: ["abxz", 2, true, false, "v"]
// since: 2024
const found = /[[a-c][x-z]]+/v.exec('--abxz--')
;[found[0], found.index, /a/v.unicodeSets, /a/u.unicodeSets, /a/v.flags]
