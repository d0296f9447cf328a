# expect: namespaces=out_of_memory; chroot=out_of_memory|crashed; confined=out_of_memory|crashed|ok
# limits: memory_bytes=100663296 wall_seconds=10
# why confined: what waits in pipes is not counted there, and bounded by the number of descriptors
# Private, shared, files, pipes and sockets, each below the limit, all of them above it.
import mmap
import os
import socket

kept = [bytearray(b"x") * (24 << 20)]
# In confined, no memory is shared without a file.
kind = mmap.MAP_ANONYMOUS | (mmap.MAP_PRIVATE if PROFILE == "confined" else mmap.MAP_SHARED)
shared = mmap.mmap(-1, 40 << 20, kind)
shared.write(b"x" * (40 << 20))
place = os.environ.get("TMPDIR", "/tmp")
with open(f"{place}/paddock-escape", "wb") as file:
    file.write(b"x" * (40 << 20))
for _ in range(100):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.write(writer, bytes(1 << 16))
    kept.append((reader, writer))
if PROFILE == "namespaces":
    print("HOLE")
