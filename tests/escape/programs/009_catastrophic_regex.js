// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.5
/^(a+)+$/.test('a'.repeat(60) + 'b')
