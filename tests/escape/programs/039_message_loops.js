// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
const error = new Error('x')
Object.defineProperty(error, 'message', { get() { for (;;); } })
throw error
