# expect: namespaces=raised; chroot=raised; confined=raised
# error: OSError
import os

with open(os.environ.get("TMPDIR", "/tmp") + "/paddock-escape", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 20))
