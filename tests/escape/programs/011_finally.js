// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.5
try {
  throw new Error('x')
} finally {
  for (;;);
}
