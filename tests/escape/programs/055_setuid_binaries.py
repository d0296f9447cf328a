# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nosuid
# stdout: NoNewPrivs 1
# stdout chroot: some
# stdout chroot: NoNewPrivs 1
# stdout confined: some
# stdout confined: EPERM
import errno
import os
import stat
import subprocess

suid = []
for name in os.listdir("/usr/bin"):
    path = f"/usr/bin/{name}"
    if not os.path.islink(path) and os.lstat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
        suid.append(path)
print("nosuid" if all(os.statvfs(path).f_flag & os.ST_NOSUID for path in suid) else "some")
try:
    done = subprocess.run(["/bin/cat", "/proc/self/status"], capture_output=True, text=True)
    print(*(line.replace(":\t", " ") for line in done.stdout.splitlines() if "NoNewPrivs" in line))
except OSError as error:
    print(errno.errorcode[error.errno])
