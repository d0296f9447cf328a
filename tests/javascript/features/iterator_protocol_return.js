// gives: [5, 3, 4]
// prints: "closed\nclosed\n"
const it = { i: 0, next() { return { value: this.i++, done: false } }, return() { console.log('closed'); return {} }, [Symbol.iterator]() { return this } }
for (const x of it) if (x === 2) break
const [a, b] = it
return [it.i, a, b]
