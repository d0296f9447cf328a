# expect: namespaces=output_limit; chroot=output_limit; confined=raised
# why confined: a guest is one process, and fork is refused
import os

for _ in range(3):
    os.fork()
while True:
    os.write(1, b"x" * 65536)
