# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
raise ValueError("x" * (20 << 20))
