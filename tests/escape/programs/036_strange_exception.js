// expect: namespaces=raised; chroot=raised; confined=raised
const error = new Error('\ud800\0\x1b[2J')
error.name = 'Odd\0\udfff'
throw error
