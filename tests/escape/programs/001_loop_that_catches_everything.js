// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.5
for (;;) {
  try {
    for (;;) (function f() { f() })()
  } catch {}
}
