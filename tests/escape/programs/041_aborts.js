// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
// signal: 6
process.abort()
