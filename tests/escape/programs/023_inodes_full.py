# expect: namespaces=ok; chroot=crashed; confined=crashed
# stdout: ENOSPC
# stdout chroot: ""
# stdout confined: ""
# why confined: files are counted by a look every 50 ms, which ends the run
import errno
import os

place = os.environ.get("TMPDIR", "/tmp")
try:
    for number in range(100_000):
        open(f"{place}/paddock-escape-{number}", "w").close()
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno])
