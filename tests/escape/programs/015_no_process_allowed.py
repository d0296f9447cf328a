# expect: namespaces=ok; chroot=ok; confined=ok
# limits: processes=1
# stdout: fork EAGAIN
# stdout: spawn EAGAIN
# stdout: subprocess EAGAIN
# stdout: thread RuntimeError
# stdout confined: fork EPERM
# stdout confined: spawn EPERM
# stdout confined: subprocess EPERM
# stdout confined: thread RuntimeError
# why confined: no limit allows a process there, the filter refuses it; a thread more fits where another of the user ended
import errno
import os
import subprocess
import threading


def attempt(name, action):
    try:
        action()
        print(name, "HOLE")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
        return error.errno
    except RuntimeError:
        print(name, "RuntimeError")


def threads():
    for _ in range(room + 1):
        threading.Thread(target=threading.Event().wait, daemon=True).start()


refused = attempt("fork", lambda: os.fork() or os._exit(0))
room = 30 if refused == errno.EPERM else 0  # in `confined` threads are counted with those that the user had before
attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("subprocess", lambda: subprocess.run(["/bin/true"]))
attempt("thread", threads)
