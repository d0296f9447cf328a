// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.7
for (;;) reportProgress(1, 2, 'x'.repeat(10_000))
