# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# why confined: shared memory that is unmapped is not seen from outside, so there is none
import mmap

kept = mmap.mmap(-1, 256 << 20)
for at in range(0, 256 << 20, 4096):
    kept[at] = 1
print("HOLE")
