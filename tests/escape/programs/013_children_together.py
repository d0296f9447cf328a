# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# why confined: a guest is one process, and fork is refused
import os

for _ in range(6):
    if os.fork() == 0:
        kept = bytearray(b"x") * (24 << 20)
        while True:
            os.read(0, 1) or __import__("time").sleep(1)
while True:
    os.wait()
