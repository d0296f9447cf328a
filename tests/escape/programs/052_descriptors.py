# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: null p p s
import os
import stat

found = []
for fd in range(4096):
    try:
        found_at = os.fstat(fd)
    except OSError:
        continue
    found.append("null" if found_at.st_rdev == os.makedev(1, 3) else stat.filemode(found_at.st_mode)[0])
print(*found)
