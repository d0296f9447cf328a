// expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
// limits: output_bytes=100000
for (;;) console.error({ a: ['x'.repeat(1000)] })
