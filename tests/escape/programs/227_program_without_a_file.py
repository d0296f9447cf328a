# expect: namespaces=ok; chroot=ok; confined=raised
# error confined: PermissionError
# stdout: EPERM
# stdout confined: ""
# why confined: a guest is one process, has no memfd, and executes nothing
# A program that is in memory alone, and then runs: the walls are those of the process, not of the program.
import os
import sys

code = "import ctypes, errno\nctypes.CDLL(None, use_errno=True).unshare(0x10000000)\nprint(errno.errorcode[ctypes.get_errno()])"
try:
    fd = os.memfd_create("paddock-escape", 0)
except PermissionError:
    if PROFILE == "confined":
        raise
    fd = os.open("/tmp/paddock-escape", os.O_RDWR | os.O_CREAT, 0o700)  # where a watcher counts memory
with open(os.path.realpath(sys.executable), "rb") as real:
    while part := real.read(1 << 20):
        os.write(fd, part)
if PROFILE == "confined":
    os.execve(fd, ["python"], {})
path = fd
if os.path.exists("/tmp/paddock-escape"):
    os.close(fd)  # a file that is open for writing is not executed
    path = "/tmp/paddock-escape"
libraries = os.path.join(sys.base_prefix, "lib")
if os.fork() == 0:
    os.execve(path, ["python", "-I", "-S", "-c", code], {"PYTHONHOME": sys.base_prefix, "LD_LIBRARY_PATH": libraries})
os.wait()
