# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.7
# Until it is killed, and with what it has begun even after that: whoever empties its folders must not follow a link.
import os
import threading

place = os.environ.get("TMPDIR", "/tmp")
os.makedirs(f"{place}/paddock-escape")


def swap(number):
    one, other = f"{place}/{number}-one", f"{place}/{number}-other"
    while True:
        try:
            os.mkdir(one)
            os.symlink("/", other)
            os.rename(one, f"{place}/paddock-escape/x{number}")
            os.rmdir(f"{place}/paddock-escape/x{number}")
            os.rename(other, f"{place}/paddock-escape/x{number}")
            os.unlink(f"{place}/paddock-escape/x{number}")
        except OSError:
            pass


for number in range(16):
    threading.Thread(target=swap, args=(number,), daemon=True).start()
threading.Event().wait()
