# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['ENOENT']
# stdout confined: ['EACCES']
# why confined: it can ask for any name, and open none
import errno
import os

found = set()
for path in HOST_PATHS:
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            open(path).close()
        print("HOLE", path)
    except OSError as error:
        found.add(errno.errorcode[error.errno])
print(sorted(found - {"ENOENT"} if PROFILE == "confined" else found))
