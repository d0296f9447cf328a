# expect: namespaces=raised; chroot=raised; confined=raised
deep = []
for _ in range(10**5):
    deep = [deep]
deep
