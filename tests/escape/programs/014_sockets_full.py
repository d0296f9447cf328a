# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=16777216
# error confined: OSError
# why confined: nobody counts what waits in sockets, so there are few descriptors to make them with
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
