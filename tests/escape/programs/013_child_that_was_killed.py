# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# why confined: a guest is one process, and fork is refused
# One child goes over the limit of all; the first process is small, and goes on.
import mmap
import os
import time

if os.fork() == 0:
    kept = mmap.mmap(-1, 128 << 20)
    for at in range(0, 128 << 20, 4096):
        kept[at] = 1
    os._exit(0)
os.wait()
time.sleep(1)
