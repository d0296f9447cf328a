// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.5
const again = () => queueMicrotask(again)
again()
await new Promise(() => {})
