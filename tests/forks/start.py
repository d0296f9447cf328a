"""A program of `fork.py` as a command: `start.py ADDRESS PROGRAM ARGUMENT...` has its streams, and ends with it.

Where this process is ended, so is the program; where a signal ended the program, it ends this process.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
    asking.connect(sys.argv[1])
    asked = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()  # noqa: PTH109  pathlib takes its time
    socket.send_fds(asking, [asked], [0, 1, 2])
    for stream in (0, 1, 2):  # the program's alone: their other ends hear of its end, not of ours
        os.close(stream)
    status = int(asking.recv(16) or b"1")
if status < 0:
    import signal

    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
