# expect: namespaces=raised; chroot=raised; confined=raised
# error: ExceptionGroup
error = ExceptionGroup("top", [ValueError(1)])
for _ in range(1000):
    error = ExceptionGroup("more", [error, ValueError("x" * 100)])
error.__notes__ = [object(), "x" * 10**6, "\ud800"]
raise error
