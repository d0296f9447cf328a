# expect: namespaces=ok; chroot=crashed; confined=ok
# limits: processes=64 memory_bytes=536870912
# stdout: ENOSPC
# stdout chroot: ""
# stdout confined: EMFILE
# why confined: it has one process, which may have 256 open files
# Files that are open and have no name count by their number, too: each takes an inode, and time to be looked at.
import errno
import os
import signal


def keep_open():
    number = 0
    try:
        while True:
            path = f"paddock-escape-{os.getpid()}-{number}"
            os.open(path, os.O_CREAT | os.O_WRONLY)
            os.unlink(path)
            number += 1
    except OSError as error:
        return error.errno


if PROFILE == "confined":
    os.chdir(os.environ["TMPDIR"])
    seen = {keep_open()}
else:
    ready, tell = os.pipe()
    seen = set()
for _ in range(0 if seen else 55):
    if os.fork() == 0:
        os.write(tell, bytes([keep_open()]))
        signal.pause()
    seen.add(os.read(ready, 1)[0])
    if errno.ENOSPC in seen:
        break
if PROFILE == "chroot":
    signal.pause()
print("ENOSPC" if errno.ENOSPC in seen else "EMFILE")
