# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# why confined: memory without a mapping is not seen from outside, so there is no memfd
import os

fd = os.memfd_create("paddock-escape")
for _ in range(256):
    os.write(fd, b"x" * (1 << 20))
print("HOLE")
