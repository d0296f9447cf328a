"""A program that forks guests on request, as the zygote does, without walls: `python nursery.py FD RUNTIME PRELOAD…`.

A request is one message: a JSON object with the directory to run in and, where it is not /files, that of the attached
files; and three descriptors (control, stdout, stderr). It is answered with the guest's wait status once that has ended.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

STACK_BYTES = 8 << 20  # as the jail has it


def main() -> None:
    requests, runtime = socket.socket(fileno=int(sys.argv[1])), import_module(sys.argv[2])
    for name in sys.argv[3:]:
        import_module(name)
    runtime.warm_up()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 65536, 3, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            requests.close()
            _become_guest(runtime, json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        requests.sendall(json.dumps(status).encode())


def _become_guest(runtime: ModuleType, request: dict[str, Any], descriptors: list[int]) -> None:
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    os.chdir(request["directory"])
    if "files" in request:
        os.environ["PADDOCK_FILES"] = request["files"]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(descriptors[1], 1)
    os.dup2(descriptors[2], 2)
    for descriptor in (nothing, *descriptors[1:]):
        os.close(descriptor)
    runtime.serve(socket.socket(fileno=descriptors[0]))


if __name__ == "__main__":
    main()
