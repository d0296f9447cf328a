// expect: namespaces=raised; chroot=raised; confined=raised
// error: Error
// says: x
const error = new Error('x')
error.stack = 'Error: y\n    at main.js:999999999999999999999:1\n    at /etc/passwd (main.js:-5:NaN)'
throw error
