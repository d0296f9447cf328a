// expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
// limits: output_bytes=100000 memory_bytes=536870912
'x'.repeat(40_000_000)
