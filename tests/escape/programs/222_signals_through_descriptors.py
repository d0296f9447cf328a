# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# A descriptor that tells somebody by a signal could tell anybody.
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe()
allowed = []
for name, (command, value) in {
    "SETOWN": (8, HOST_PID), "SETOWN to a group": (8, -1), "SETSIG": (10, 9), "SETOWN_EX": (15, 0), "SETLEASE": (1024, 1),
    "NOTIFY": (1026, 2), "SETPIPE_SZ": (1031, 1 << 20), "CREATED_QUERY": (1028, 0), "DUPFD_QUERY": (1027, 0),
}.items():  # fmt: skip
    if libc.fcntl(reader, command, ctypes.c_long(value)) != -1 or ctypes.get_errno() != errno.EPERM:
        allowed.append(f"HOLE {name}")
print(allowed)
