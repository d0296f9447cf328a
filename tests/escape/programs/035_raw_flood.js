// expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
// engines: node
// limits: output_bytes=100000
for (;;) process.stdout.write('x'.repeat(65536))
