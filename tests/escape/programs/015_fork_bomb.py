# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.7
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
