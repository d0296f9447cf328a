// expect: namespaces=ok; chroot=ok; confined=ok
// output: 1
hang()
hang().catch(() => {})
return 1
