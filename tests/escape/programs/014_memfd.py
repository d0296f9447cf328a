# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
import os

fd = os.memfd_create("paddock-escape")
for _ in range(256):
    os.write(fd, b"x" * (1 << 20))
print("HOLE")
