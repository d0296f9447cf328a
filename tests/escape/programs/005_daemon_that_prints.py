# expect: namespaces=ok; chroot=ok; confined=raised
# output: "left"
# output confined: null
# why confined: a guest is one process, and fork is refused
import os

if os.fork() == 0:
    os.setsid()
    while True:
        os.write(2, b".")
"left"
