# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: True
# The kernel shows the CPU time of any process to everybody who can name it.
import os
import threading
import time


def of_process(pid):
    return (~pid << 3) | 2


for pid in {1, os.getppid(), HOST_PID, *range(max(HOST_PID - 500, 1), HOST_PID + 500)} - {0, os.getpid()}:
    for use in (time.clock_gettime, time.clock_getres):
        try:
            use(of_process(pid))
        except OSError:
            continue
        if PROFILE != "namespaces" or pid > 2:
            print("HOLE", pid, use.__name__)
own = [time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID]
if PROFILE == "namespaces":
    own.append(time.pthread_getcpuclockid(threading.get_ident()))
print(all(time.clock_gettime(clock) >= 0 for clock in own))
