# expect: namespaces=ok; chroot=ok; confined=raised
# output: "left"
import os

if os.fork() == 0:
    os.setsid()
    while True:
        os.write(2, b".")
"left"
