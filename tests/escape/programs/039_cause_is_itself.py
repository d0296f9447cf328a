# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
one, other = ValueError("one"), KeyError("other")
one.__cause__, other.__context__ = other, one
raise one
