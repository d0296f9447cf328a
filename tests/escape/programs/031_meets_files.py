# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# stdout: []
import os

# What 031_leaves_files made, and whatever the others did.
found = [name for place in ("/tmp", "/files", "/dev/shm") for name in os.listdir(place)]
print(found)
print([name for name in found if "paddock-escape" in name and print("HOLE", name) is None])
