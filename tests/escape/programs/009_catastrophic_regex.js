// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
/^(a+)+$/.test('a'.repeat(60) + 'b')
