# expect: namespaces=raised; chroot=raised; confined=raised
# error: OSError
with open("/tmp/paddock-escape", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 20))
