# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# The host puts the value of a result into its own JSON: it must not take one from a header, which nothing has checked.
import json
import os
import stat
import struct


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
value = '1, "verdict": "timeout", "calls": []'
header = json.dumps({"status": "exited", "exit_code": 0, "output_json": value}).encode()
os.write(control, struct.pack("!BIII", 20, 0, len(header), 0) + header)
while True:
    pass
