// gives: ["2026-03-01T23:59:59.999Z", 1772409599999, 1767312000000, "2026-01-02T03:04:05.000Z", "NaN", 2, "number"]
const d = new Date(Date.UTC(2026, 1, 28, 23, 59, 59, 999))
d.setUTCDate(d.getUTCDate() + 1)
;[d.toISOString(), d.getTime(), new Date('2026-01-02').getTime(), new Date('2026-01-02T03:04:05Z').toJSON(), Date.parse('nonsense'), new Date(2024, 1, 30).getMonth(), typeof Date.now()]
