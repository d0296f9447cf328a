# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: inotify_init1 EPERM
# stdout: fanotify_init EPERM
# stdout: add_key EPERM
# stdout: mq_open EPERM
# stdout: msgget EPERM
# stdout: semget EPERM
# stdout: shmget EPERM
# stdout: fcntl EPERM
# stdout: fcntl EPERM
# stdout: memlock ENOMEM
# stdout: timer_create ENOSYS
# stdout: descriptors EMFILE
# stdout: pty ENOENT
# stdout confined: inotify_init1 EPERM
# stdout confined: fanotify_init EPERM
# stdout confined: add_key EPERM
# stdout confined: mq_open EPERM
# stdout confined: msgget EPERM
# stdout confined: semget EPERM
# stdout confined: shmget EPERM
# stdout confined: fcntl EPERM
# stdout confined: fcntl EPERM
# stdout confined: memlock ENOMEM
# stdout confined: timer_create ENOSYS
# stdout confined: descriptors EMFILE
# stdout confined: pty EACCES
# why confined: /dev is the host's, and closed
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


import os
import resource

attempt("inotify_init1", 0)
attempt("fanotify_init", 0, 0)
attempt("add_key", b"user", b"paddock-escape", b"x", 1, -3)
attempt("mq_open", b"paddock-escape", 0o102, 0o600, None)
attempt("msgget", 0, 0o1600)
attempt("semget", 0, 1, 0o1600)
attempt("shmget", 0, 4096, 0o1600)
reader, writer = os.pipe()
attempt("fcntl", writer, 1031, 1 << 20)  # F_SETPIPE_SZ
attempt("fcntl", 0, 1024, 0)  # F_SETLEASE
SYSCALLS["memlock"] = SYSCALLS["mlock"]
attempt("memlock", ctypes.create_string_buffer(1 << 20), 1 << 20)
attempt("timer_create", 0, None, ctypes.byref(ctypes.c_int()))
opened = []
try:
    while len(opened) < 5000:
        opened.append(os.eventfd(0))
    print("HOLE")
except OSError as error:
    print("descriptors", errno.errorcode[error.errno])
for fd in opened:
    os.close(fd)
try:
    os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    print("HOLE")
except OSError as error:
    print("pty", errno.errorcode[error.errno])
