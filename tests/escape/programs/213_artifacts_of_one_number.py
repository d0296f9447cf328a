# expect: namespaces=ok; chroot=ok; confined=ok
# output: [1000, 500]
# What one run may keep is counted by the host, not by the numbers that a script gives.
import os
import socket
import stat


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
import struct
import json
import select

header = b'{"do": "create", "filename": "paddock-escape"}'
frame = struct.pack("!BIII", 19, 7, len(header), 0) + header
left, got, made, refused = 1500, b"", 0, 0
with socket.socket(fileno=os.dup(control)) as end:
    while made + refused < 1500:
        if left:
            end.sendall(frame * 10)
            left -= 10
        select.select([end], [], [])
        got += end.recv(1 << 20)
        while len(got) >= 13 and len(got) >= 13 + sum(struct.unpack_from("!II", got, 5)):
            first, second = struct.unpack_from("!II", got, 5)
            ok = json.loads(got[13 : 13 + first])["success"]
            made, refused = made + ok, refused + (not ok)
            got = got[13 + first + second :]
[made, refused]
