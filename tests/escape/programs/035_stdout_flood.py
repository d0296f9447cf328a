# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
while True:
    print("x" * 1_000_000)
