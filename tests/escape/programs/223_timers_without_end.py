# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=1
# stdout: armed
# Hundreds of timers that expire every microsecond, and signals that nobody reads.
import ctypes
import os
import signal
import struct

libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN})
print("armed", flush=True)
often = struct.pack("qqqq", 0, 1000, 0, 1000)
timers = [libc.timerfd_create(1, 0o4000) for _ in range(200)]
for timer in timers:
    libc.timerfd_settime(timer, 0, often, None)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    os.kill(os.getpid(), signal.SIGRTMIN)
    libc.signalfd(-1, bytes(8), 0)
