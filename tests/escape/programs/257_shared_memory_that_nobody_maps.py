# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# why confined: shared memory that is unmapped is not seen from outside, so there is none
import mmap

STEP = 4 << 20
kept = mmap.mmap(-1, 64 * STEP)
for at in range(0, 64 * STEP, STEP):
    kept[at : at + STEP] = b"x" * STEP
    kept.madvise(mmap.MADV_DONTNEED, at, STEP)
print("HOLE", sum(kept[at] == ord("x") for at in range(0, 64 * STEP, STEP)))
