# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
import os


def denied(place):
    try:
        os.listdir(place)
    except PermissionError:
        return True


places = [os.environ.get("TMPDIR", "/tmp"), os.environ.get("PADDOCK_FILES", "/files"), "/dev/shm"]
places = [place for place in places if not denied(place)]
print([name for place in places for name in os.listdir(place)])
for place in places:
    open(f"{place}/paddock-escape", "w").close()
    os.mkdir(f"{place}/paddock-escape.d", 0o777)
