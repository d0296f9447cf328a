# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
# says: �
raise ValueError("\ud800 \0 \x1b[2J")
