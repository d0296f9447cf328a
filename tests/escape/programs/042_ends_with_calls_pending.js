// expect: namespaces=ok; chroot=ok; confined=ok
// limits: wall_seconds=4
// output: 1
hang()
hang().catch(() => {})
return 1
