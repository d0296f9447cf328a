// expect: namespaces=ok|out_of_memory; chroot=ok|out_of_memory; confined=ok|out_of_memory
let list = null
for (let i = 0; i < 1_000_000; i++) list = { list }
list = null
let text = 'a'
for (let i = 0; i < 200_000; i++) text = `${text}b`.concat('c')
return text.length
