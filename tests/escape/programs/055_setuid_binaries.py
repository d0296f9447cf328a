# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# stdout: 1
# stdout confined: EPERM
# why confined: the host's own binaries are there, and nothing can be executed
import errno
import os
import stat
import subprocess
import sys

# One that is there lies on a file system where the bit means nothing; after exec it would mean nothing either.
means_something = []
for name in os.listdir("/usr/bin"):
    path = f"/usr/bin/{name}"
    if not os.path.islink(path) and os.lstat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
        if not os.statvfs(path).f_flag & os.ST_NOSUID:
            means_something.append(path)
if PROFILE != "confined":
    print(means_something)
program = "import ctypes; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))"
try:
    print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout, end="")
except OSError as error:
    print(errno.errorcode[error.errno])
