// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.25
process.on('exit', () => { for (;;); })
1
