"""Running scripts of no consequence, so that the first real one finds everything warm."""

from __future__ import annotations

import socket

from paddock.guest.javascript import ending
from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.javascript.running import run
from paddock.guest.python import job
from paddock.jail import wire
from paddock.jail.wire import Kind

SCRIPTS = (
    "const x = [1 + 1];\nif (x) { console.log(x) }\nx",
    "function f(x) {\n  return x.y.z\n}\nf({})",
    "await new Promise(done => setTimeout(done, 1)); ({a: [1, 'x']})",
    "const x = ;",
)


def rehearse() -> None:
    """Receive a few jobs, run each in a context of its own, and send its result, within this process."""
    for source in SCRIPTS:
        host, guest = socket.socketpair()
        with host, guest:
            start = {"mode": "expression", "limits": {}, "tools": ["x"], "files": []}
            host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, source.encode()))
            received = job.receive(guest)
            if received is not None:
                channel = Channel(guest)
                ending.tell(channel, run(Context(), channel, received, None))
