// expect: namespaces=raised; chroot=raised; confined=raised
// error: TypeError
// says: contains itself
const map = new Map()
map.set('self', [new Set([map])])
map
