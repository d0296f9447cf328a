// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
try {
  throw new Error('x')
} finally {
  for (;;);
}
