# expect: namespaces=raised; chroot=raised; confined=raised
# limits: memory_bytes=67108864
bytearray(10**10)
