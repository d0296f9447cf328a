# expect: namespaces=out_of_memory; chroot=crashed|out_of_memory; confined=raised
# limits: memory_bytes=33554432
# why confined: /dev/shm is the host's, and closed
from multiprocessing.shared_memory import SharedMemory

kept = []
while True:
    block = SharedMemory(create=True, size=8 << 20)
    block.buf[:] = b"x" * (8 << 20)
    kept.append(block)
