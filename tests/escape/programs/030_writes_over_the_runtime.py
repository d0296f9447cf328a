# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EACCES EROFS EROFS
# stdout chroot: EACCES EACCES EACCES
# stdout confined: EACCES EACCES EACCES
# why confined: the runtime is the user's own, and closed to writing
import errno
import os
import sys

import numpy


def refusal(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "HOLE"


places = [sys.executable, os.__file__, numpy.__file__, "/bin/sh", "/lib/x86_64-linux-gnu/libc.so.6", "/etc/passwd"]
opened, made, removed = set(), set(), set()
for path in places:
    if os.path.exists(path):
        opened.add(refusal(lambda path=path: os.close(os.open(path, os.O_WRONLY | os.O_APPEND))))
        made.add(refusal(lambda path=path: os.mkdir(os.path.dirname(os.path.realpath(path)) + "/paddock-escape")))
        # To itself: were it allowed, nothing would be lost.
        removed.add(refusal(lambda path=path: os.rename(path, path)))
print(*sorted(opened), *sorted(made), *sorted(removed))
