# expect: namespaces=ok; chroot=crashed; confined=ok
# stdout: ENOSPC
# stdout chroot: ""
import errno

try:
    for number in range(100_000):
        open(f"/tmp/paddock-escape-{number}", "w").close()
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno])
