// expect: namespaces=ok; chroot=ok; confined=ok
// output: 400001
let list = null
for (let i = 0; i < 1_000_000; i++) list = { list }
list = null
let text = 'a'
for (let i = 0; i < 200_000; i++) text = `${text}b`.concat('c')
return text.length
