// expect: namespaces=ok; chroot=ok; confined=ok
// output: 100001
let list = null
for (let i = 0; i < 300_000; i++) list = { list }
list = null
let text = 'a'
for (let i = 0; i < 50_000; i++) text = `${text}b`.concat('c')
return text.length
