// expect: namespaces=crashed; chroot=crashed; confined=crashed
// engines: node
// signal: 11
process.kill(process.pid, 'SIGSEGV')
for (;;);
