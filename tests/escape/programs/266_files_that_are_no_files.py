# expect: namespaces=ok; chroot=ok; confined=ok
# output: "done"
# What is left in the working directory is sent from inside, as frames: the host opens none of it.
import os

names = ["../paddock-escape", "a\nb", "x" * 255, "-rf", "C:\\\\x", "\u202egnp.exe", os.fsdecode(b"paddock-escape-\xff")]
for name in names:
    try:
        open(name.replace("/", "_"), "w").write("x")
    except OSError:
        pass
for make in (
    lambda: os.symlink("/etc/passwd", "paddock-escape-link"),
    lambda: os.symlink("/proc/self/mem", "paddock-escape-memory.png"),
    lambda: os.mkfifo("paddock-escape-fifo"),
    lambda: os.mknod("paddock-escape-device", 0o20644, os.makedev(1, 3)),
    lambda: os.link("/etc/passwd", "paddock-escape-hard"),
):
    try:
        make()
    except (OSError, AttributeError):
        pass
with open("paddock-escape-sparse.png", "wb") as file:
    file.truncate(1 << 25)
for depth in range(200):
    os.makedirs("d/" * depth or ".", exist_ok=True)
for number in range(3000):
    open(f"paddock-escape-{number}", "w").close()
"done"
