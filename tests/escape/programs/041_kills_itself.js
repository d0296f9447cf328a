// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
// signal: 9
process.kill(process.pid, 'SIGKILL')
for (;;);
