# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['EROFS'] ['EROFS'] ['EROFS'] ['ENOTSUP']
# stdout chroot: ['EPERM'] ['EPERM'] ['EPERM'] ['ENOTSUP']
# stdout confined: ['EPERM'] ['EPERM'] ['EPERM'] ['ENOTSUP']
# why confined: the filter refuses every change of attributes
import errno
import os
import sys


def refusal(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "HOLE"


paths = ["/etc/passwd", "/usr/bin/env", sys.executable, os.__file__, "/"]
modes = {path: os.stat(path) for path in paths}
said = [
    {refusal(lambda path=path: os.chmod(path, modes[path].st_mode & 0o777)) for path in paths},
    {refusal(lambda path=path: os.chown(path, modes[path].st_uid, modes[path].st_gid)) for path in paths},
    {refusal(lambda path=path: os.utime(path, ns=(modes[path].st_atime_ns, modes[path].st_mtime_ns))) for path in paths},
    {refusal(lambda path=path: os.setxattr(path, "user.paddock-escape", b"")) for path in paths},
]
print(*(sorted(found) for found in said))
