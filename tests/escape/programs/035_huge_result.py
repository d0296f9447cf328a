# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
"x" * (20 << 20)
