// expect: namespaces=crashed|raised; chroot=crashed|raised; confined=crashed|raised
// engines: node
process.reallyExit(5)
