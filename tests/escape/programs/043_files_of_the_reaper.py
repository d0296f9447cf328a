# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['ENOENT']
# stdout confined: ['EACCES']
# why confined: it has no /proc of its own, and Landlock refuses the host's
import errno
import os

found = set()
for pid in range(1, 3):
    if pid == os.getpid():
        continue
    for name in ("environ", "mem", "maps", "auxv", "stack", "io", "syscall", "personality"):
        try:
            fd = os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
            try:
                os.read(fd, 1)
            except OSError as error:
                found.add(errno.errorcode[error.errno])
            else:
                print("HOLE", pid, name)
            os.close(fd)
        except OSError as error:
            found.add(errno.errorcode[error.errno])
    for name in ("cwd", "root", "exe", "ns/mnt", "ns/pid"):
        try:
            print("HOLE", pid, name, os.readlink(f"/proc/{pid}/{name}"))
        except OSError as error:
            found.add(errno.errorcode[error.errno])
    try:
        print("HOLE", os.listdir(f"/proc/{pid}/fd"))
    except OSError as error:
        found.add(errno.errorcode[error.errno])
print(sorted(found))
