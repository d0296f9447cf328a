# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=20 cpu_seconds=0.5
# says: cpu_seconds
import hashlib
import threading


def work():
    while True:
        hashlib.sha256(b"x" * 1_000_000).digest()


for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
threading.Event().wait()
