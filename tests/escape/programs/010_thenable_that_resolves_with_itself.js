// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
const again = { then(resolve) { resolve(again) } }
await again
