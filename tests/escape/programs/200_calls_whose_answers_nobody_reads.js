// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.7 calls=10000
for (let i = 0; i < 5000; i++) hang({}).catch(() => {})
for (;;);
