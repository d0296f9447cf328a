"""Running scripts of no consequence, so that the first real one finds everything warm.

A forked process copies each page that it first writes to. A guest therefore rehearses before it is READY, in the very
context that its script will have: what it runs there leaves nothing behind that a script could see.
"""

from __future__ import annotations

import socket

from paddock.guest.javascript import ending
from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.javascript.running import run
from paddock.guest.python import job
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

PLAIN = "const x = [1 + 1];\nif (x) { console.log('') }\nawait callTool('a.b', { x });\nx"
ENDS = (
    PLAIN,
    "function f(x) {\n  return x.y.z\n}\nf({})",
    "await new Promise(done => setTimeout(done, 1)); console.log({a: [1, 'x']}, new Error('x')); ({a: new Map()})",
    "Promise.reject(1)",
    "const x = ;",
)


class Rehearsed(Channel):
    """Answers each call itself."""

    def send(self, kind: int, number: int, header: bytes, body: bytes) -> None:
        super().send(kind, number, header, body)
        if kind == Kind.CALL:
            self._frames.append(Frame(Kind.ANSWER, number, b'{"failed": false}', b'{"result": 1}'))


def rehearse(context: Context, source: str = PLAIN) -> None:
    """Receive a job, run it and send its result, within this process."""
    host, guest = socket.socketpair()
    with host, guest:
        start = {"mode": "expression", "limits": {}, "tools": [], "files": []}
        host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, source.encode()))
        received = job.receive(guest)
        if received is not None:
            channel = Rehearsed(guest)
            ending.tell(channel, run(context, channel, received, None))


def rehearse_every_end() -> None:
    """For a zygote: each kind of end, in a context of its own."""
    for source in ENDS:
        rehearse(Context(), source)
