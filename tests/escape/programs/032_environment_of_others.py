# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['EACCES']
import errno
import os

found = set()
for pid in (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()):
    for name in ("environ", "mem", "maps", "fd", "cwd", "root", "exe", "auxv", "stack", "io", "pagemap"):
        try:
            path = f"/proc/{pid}/{name}"
            (os.listdir if name == "fd" else os.readlink if name in ("cwd", "root", "exe") else open)(path)
            if name not in ("auxv", "maps", "environ", "pagemap", "stack") or open(path, "rb").read(1):
                print("HOLE", path)
        except OSError as error:
            found.add(errno.errorcode[error.errno])
print(sorted(found))
