// gives: [2, 28, 29, "NaN"]
const days = (a, b) => Math.round((Date.parse(b) - Date.parse(a)) / 864e5)
const month = (d) => new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()
;[days('2024-02-28', '2024-03-01'), month(new Date('2023-02-10')), month(new Date('2024-02-10')), new Date('2026-12-31T23:59:60Z').getTime()]
