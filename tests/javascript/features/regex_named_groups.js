// gives: ["2026", "07", "07/2026", "aa"]
const { groups: { y, m } } = /(?<y>\d{4})-(?<m>\d\d)/.exec('on 2026-07')
;[y, m, '2026-07'.replace(/(?<y>\d+)-(?<m>\d+)/, '$<m>/$<y>'), 'aa'.match(/(?<c>a)\k<c>/)[0]]
