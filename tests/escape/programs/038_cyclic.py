# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
ring = []
ring.append({"ring": ring})
ring
