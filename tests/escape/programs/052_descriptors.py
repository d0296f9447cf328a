# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: 0 /dev/null
# stdout: 1 pipe
# stdout: 2 pipe
# stdout: 3 socket
import os

# The last one is the listing's own. The socket's number may be any.
found = []
for fd in range(4096):
    try:
        os.fstat(fd)
    except OSError:
        continue
    found.append(os.readlink(f"/proc/self/fd/{fd}").partition(":")[0])
for number, kind in enumerate(found):
    print(number, kind)
