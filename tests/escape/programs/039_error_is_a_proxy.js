// expect: namespaces=raised; chroot=raised; confined=raised
const trap = () => { throw new Error('trap') }
throw new Proxy(new Error('x'), { get: trap, getPrototypeOf: trap, ownKeys: trap, has: trap, getOwnPropertyDescriptor: trap })
