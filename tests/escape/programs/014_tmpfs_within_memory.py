# expect: namespaces=out_of_memory; chroot=ok; confined=ok
# limits: memory_bytes=33554432
# stdout: ""
# stdout chroot: written
# stdout confined: written
# why confined: no process maps the file, and who looks from outside sees mappings; what it may hold is bounded apart
# Files in memory count as memory: here they would be less than /tmp may hold.
import os

with open(os.environ.get("TMPDIR", "/tmp") + "/paddock-escape", "wb") as file:
    for _ in range(48):
        file.write(b"x" * (1 << 20))
        file.flush()
print("written")
