# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
10**5000
