// gives: [[1, 2], 2, true, true, true, false, "i", "dgimsuy"]
const r = /b/dg
const found = r.exec('abc')
;[found.indices[0], r.lastIndex, /a.b/s.test('a\nb'), /^b/m.test('a\nb'), /\u{1F600}/u.test('😀'), /foo/y.test('xfoo'), /A/i.flags, /a/dgimsuy.flags]
