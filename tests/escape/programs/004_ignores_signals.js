// expect: namespaces=timeout; chroot=timeout; confined=timeout
// engines: node
// limits: wall_seconds=0.25
for (const name of ['SIGTERM', 'SIGINT', 'SIGALRM', 'SIGHUP', 'SIGXCPU', 'SIGQUIT']) process.on(name, () => {})
for (;;);
