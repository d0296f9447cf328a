# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: reaper EPERM
# stdout: host ESRCH
# stdout: group ESRCH
# stdout: pidfd ESRCH
# stdout: queue EPERM
# stdout chroot: reaper EPERM
# stdout chroot: host EPERM
# stdout chroot: group ESRCH
# stdout chroot: pidfd EPERM
# stdout chroot: queue EPERM
# stdout confined: reaper EPERM
# stdout confined: host EPERM
# stdout confined: group EPERM
# stdout confined: pidfd EPERM
# stdout confined: queue EPERM
# why confined: the others are there, and the filter lets it name none of them
import ctypes
import errno
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, action):
    try:
        action()
        print(name, "HOLE")
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def queue():
    if libc.sigqueue(1, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "sigqueue")


# Signal 0 asks whether one could be sent, and sends none.
attempt("reaper", lambda: os.kill(1, 0))
attempt("host", lambda: os.kill(HOST_PID, 0))
attempt("group", lambda: os.killpg(HOST_PID, 0))
attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(HOST_PID), 0))
attempt("queue", queue)
