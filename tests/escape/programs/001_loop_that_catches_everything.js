// expect: namespaces=timeout; chroot=timeout; confined=timeout
// limits: wall_seconds=0.25
for (;;) {
  try {
    for (;;) (function f() { f() })()
  } catch {}
}
