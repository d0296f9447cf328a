# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# stdout: []
import os

# What 031_leaves_files made, and whatever the others did.
found = []
for place in (os.environ.get("TMPDIR", "/tmp"), os.environ.get("PADDOCK_FILES", "/files"), "/tmp", "/dev/shm"):
    try:
        found += os.listdir(place)
    except PermissionError:
        pass
print(found)
print([name for name in found if "paddock-escape" in name and print("HOLE", name) is None])
