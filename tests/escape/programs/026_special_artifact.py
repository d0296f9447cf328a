# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: fifo EPERM
# stdout: PosixPath
# stdout: BufferedReader
# stdout: TextIOWrapper
# stdout: FileIO
# stdout: socket
# stdout: int
# stdout: StreamReader
# stdout: generator
# stdout: Lazy
# stdout: False False False
# What would block who reads it, or never end. Nothing of it is content, and nobody outside reads.
import asyncio
import errno
import os
import socket
from pathlib import Path

place = os.environ.get("TMPDIR", "/tmp")
try:
    os.mkfifo(f"{place}/paddock-escape-fifo")
except OSError as error:
    print("fifo", errno.errorcode[error.errno])
empty, _other = os.pipe()
end, _peer = socket.socketpair()


class Lazy:
    def __bytes__(self):
        return os.read(empty, 1)

    def __str__(self):
        return os.read(empty, 1).decode()

    def read(self, size=-1):
        return os.read(empty, 1)


contents = [
    Path("/dev/zero"),
    open("/dev/zero", "rb"),
    open("/dev/null"),
    open(empty, "rb", buffering=0, closefd=False),
    end,
    empty,
    asyncio.StreamReader(),
    (b"x" for _ in iter(int, 1)),
    Lazy(),
]
for content in contents:
    refused = await create_artifact("paddock-escape", content)
    print(refused["error"].removeprefix("the content of an artifact must be text or bytes, not "))
print(*[(await read_artifact(f"{ref}"))["success"] for ref in ("/dev/zero", f"/proc/self/fd/{empty}", empty)])
