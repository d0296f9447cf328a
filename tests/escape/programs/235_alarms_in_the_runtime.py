# expect: namespaces=ok|raised|crashed; chroot=ok|raised|crashed; confined=ok|raised|crashed
# limits: wall_seconds=10
# An exception at any moment, also while the result is put together and sent.
import signal


class Alarm(BaseException):
    pass


def ring(*_):
    raise Alarm


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
[list(range(1000)) for _ in range(200)]
