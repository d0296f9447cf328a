# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=out_of_memory
# limits: memory_bytes=33554432
import socket

kept = []
total = 0
while len(kept) < 400:
    one, other = socket.socketpair()
    one.setblocking(False)
    kept += [one, other]
    try:
        while True:
            total += one.send(bytes(65536))
    except BlockingIOError:
        pass
print("HOLE", total)
