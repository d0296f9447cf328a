# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# Every file that /proc shows of this process and of the first one: none is to be written.
import os

opened = []
for folder in ("/proc/self", "/proc/1", "/proc/self/task/" + str(os.getpid()), "/proc/self/attr", "/proc/self/net"):
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    for name in names:
        path = f"{folder}/{name}"
        if name in ("fd", "exe", "root", "cwd") or os.path.isdir(path):
            continue
        for flags in (os.O_WRONLY, os.O_RDWR):
            try:
                os.close(os.open(path, flags | os.O_NONBLOCK))
                opened.append(f"HOLE {path}")
            except OSError:
                pass
print(opened)
