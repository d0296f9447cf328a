// expect: namespaces=raised; chroot=raised; confined=raised
const error = new Error('x')
for (const key of ['message', 'name', 'stack', 'cause', 'toString']) Object.defineProperty(error, key, { get() { throw 1 } })
throw error
