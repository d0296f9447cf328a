// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
const again = () => { setTimeout(again, 0); setTimeout(() => {}, 1e6) }
for (let i = 0; i < 1000; i++) setInterval(again, 0)
await new Promise(() => {})
