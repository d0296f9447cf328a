// gives: [{"year": "2026", "month": "11"}, {"year": "2026", "month": "11"}]
// since: 2025
const date = /(?<year>\d{4})-(?<month>\d\d)|(?<month>\d\d)\/(?<year>\d{4})/
;['2026-11', '11/2026'].map((text) => ({ ...date.exec(text).groups }))
