# expect: namespaces=ok; chroot=crashed; confined=crashed
# stdout: ENOSPC
# stdout chroot: ""
# stdout confined: ""
# why confined: files are counted by a look every 50 ms, which ends the run
# What has no content is counted too.
import errno
import os
import time

place = os.environ.get("TMPDIR", "/tmp")
open(f"{place}/paddock-escape", "w").close()
try:
    for number in range(20_000):
        (os.symlink if number % 2 else os.link)(f"{place}/paddock-escape", f"{place}/paddock-escape-{number}")
    time.sleep(2)
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno])
