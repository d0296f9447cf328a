const words = 'the quick brown fox jumps over the lazy dog the end'.split(' ');
const counts = Object.entries(Object.groupBy(words, (word) => word)).map(([word, all]) => [word, all.length]);
counts.sort((one, other) => other[1] - one[1]);
console.log(counts.slice(0, 2));
console.error('done, and nothing to add');
process.exit(3);
