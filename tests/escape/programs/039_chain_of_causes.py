# expect: namespaces=raised; chroot=raised; confined=raised
error = ValueError("first")
for _ in range(50_000):
    following = ValueError("x")
    following.__cause__ = error
    error = following
raise error
