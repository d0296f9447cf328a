# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
import os

places = ("/tmp", "/files", "/dev/shm")
print([name for place in places for name in os.listdir(place)])
for place in places:
    open(f"{place}/paddock-escape", "w").close()
    os.mkdir(f"{place}/paddock-escape.d", 0o777)
