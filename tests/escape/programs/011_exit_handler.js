// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.7
process.on('exit', () => { for (;;); })
1
