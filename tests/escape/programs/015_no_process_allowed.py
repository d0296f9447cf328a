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
# why confined: no limit allows a process there, the filter refuses it
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
    except RuntimeError:
        print(name, "RuntimeError")


attempt("fork", lambda: os.fork() or os._exit(0))
attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("subprocess", lambda: subprocess.run(["/bin/true"]))
attempt("thread", threading.Thread(target=print).start)
