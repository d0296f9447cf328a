const words = 'the quick brown fox jumps over the lazy dog the end'.split(' ');
const counts = Map.groupBy(words, (word) => word);
const most = [...counts].sort((one, other) => other[1].length - one[1].length);
console.log(most.slice(0, 2).map(([word, all]) => [word, all.length]));
console.error('done, and nothing to add');
process.exit(3);
