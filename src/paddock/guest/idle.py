"""An idle guest for `paddock doctor`: it sends READY from inside the jail and waits until the socket closes."""

from __future__ import annotations

import os
import socket
from typing import NoReturn

from paddock.jail import wire


def serve(control: socket.socket, _is_urgent: bool) -> NoReturn:
    try:
        control.setblocking(True)
        control.sendall(wire.pack(wire.Kind.READY))
        control.recv(1)
    finally:
        os._exit(0)
