// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
const again = () => queueMicrotask(again)
again()
await new Promise(() => {})
