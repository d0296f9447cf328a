# expect: namespaces=ok; chroot=ok; confined=ok
# Any guest can read the locks on a file of the runtime, and nothing counts the memory that locks take.
import fcntl
import os
import struct

FLOCK = "hhqqi4x"  # type, whence, start, length, pid
SET = {"SETLK": 6, "SETLKW": 7, "OFD_SETLK": 37, "OFD_SETLKW": 38}
READ, WRITE = 0, 1


def attempt(file, command, kind, start):
    try:
        return struct.unpack(FLOCK, fcntl.fcntl(file, command, struct.pack(FLOCK, kind, 0, start, 8, 0)))[0]
    except OSError:
        return None


speaker, listener = open(os.__file__), open(os.__file__)
null, other_null = open("/dev/null", "r+b", 0), open("/dev/null", "r+b", 0)
for name, command in SET.items():
    attempt(speaker, command, READ, 1 << 40)
    attempt(null, command, WRITE, 1 << 40)
    pid = os.fork() if PROFILE != "confined" else 0  # another process: its own locks are not shown to a process
    if pid:
        os.waitpid(pid, 0)
        continue
    for file in (listener, other_null):
        for get in (5, 36):  # GETLK, OFD_GETLK
            if attempt(file, get, WRITE, 1 << 40) in (READ, WRITE):
                print("HOLE", name, file.name, get, flush=True)
    if PROFILE != "confined":
        os._exit(0)
