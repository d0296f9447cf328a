// expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
// limits: memory_bytes=67108864
(function* () { for (;;) yield 1 })()
