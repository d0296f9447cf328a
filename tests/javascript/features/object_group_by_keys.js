// gives: [{"1-0": ["a"], "2-1": ["bb"], "2-0": ["cc"], "1-1": ["d"]}, true]
// since: 2024
const found = Object.groupBy(['a', 'bb', 'cc', 'd'], (word, at) => `${word.length}-${at % 2}`)
;[found, Object.getPrototypeOf(found) === null]
