# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: an artifact may be at most 16 MB; this one is larger
# stdout: the content of an artifact must be text or bytes, not mmap
# stdout: True 8388608
# A file of holes costs nothing to make; what is kept of it was read here, and counts here.
import mmap
import os

fd = os.open(os.environ.get("TMPDIR", "/tmp") + "/paddock-escape", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 48 << 20)
holes = mmap.mmap(fd, 48 << 20)
view = memoryview(holes)
print((await create_artifact("paddock-escape.bin", view))["error"])
print((await create_artifact("paddock-escape.bin", holes))["error"])
part = await create_artifact("paddock-escape.bin", view[: 8 << 20])
print(part["success"], part["size"])
