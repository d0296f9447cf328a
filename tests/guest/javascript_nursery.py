"""A program that forks guests for JavaScript on request: `python javascript_nursery.py FD`. See nursery.py."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys

from paddock.guest.javascript.main import serve, warm_up


def main() -> None:
    requests = socket.socket(fileno=int(sys.argv[1]))
    warm_up()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 65536, 3, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            _become_guest(requests, json.loads(message)["directory"], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        requests.sendall(json.dumps(status).encode())


def _become_guest(requests: socket.socket, directory: str, descriptors: list[int]) -> None:
    requests.close()
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    os.chdir(directory)
    resource.setrlimit(resource.RLIMIT_STACK, (8 * 2**20, 8 * 2**20))  # as the jail does
    os.environ["PADDOCK_FILES"] = f"{directory}/files"
    os.dup2(descriptors[1], 1)
    os.dup2(descriptors[2], 2)
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    serve(socket.socket(fileno=descriptors[0]))


if __name__ == "__main__":
    main()
