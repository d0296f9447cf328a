# expect: namespaces=ok; chroot=ok; confined=ok
# output: 1
nested = []
for _ in range(200_000):
    nested = [nested]
del nested
1
