"""The life of a guest process: READY, a job, the script, RESULT, exit.

A forked process copies a memory page when it first writes to it, which costs time. So a guest runs a rehearsal script
before READY, in the context that the real script will use. The rehearsal leaves nothing behind that a script could see.
"""

from __future__ import annotations

import os
import socket
from typing import NoReturn

from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.javascript.script import run
from paddock.guest.python import job, limits
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

REHEARSAL = "const x = [1 + 1];\nif (x) { console.log('') }\nawait callTool('a.b', { x });\nx"
REHEARSALS = (
    REHEARSAL,
    "function f(x) {\n  return x.y.z\n}\nf({})",
    "await new Promise(done => setTimeout(done, 1)); console.log({a: [1, 'x']}, new Error('x')); ({a: new Map()})",
    "Promise.reject(1)",
    "const x = ;",
)
"""One script for each way in which a script can end."""
_READY = wire.pack(Kind.READY)
_contexts: list[Context] = []
"""The context that the zygote created for its guests. Only rehearsals have run in it."""


def serve(control: socket.socket, is_urgent: bool = False) -> NoReturn:
    """Run the one script that arrives over `control`, and end the process. With `is_urgent` the rehearsal is skipped.

    The process has one thread, is jailed, and has the host's pipes as descriptors 1 and 2.
    """
    job.run_to_exit(lambda: _serve(control, is_urgent))


def warm_up() -> None:
    """Called in the zygote before it forks: create the context that guests start from."""
    for code in REHEARSALS:
        _rehearse(Context(), code)
    limits.prepare()
    _contexts.append(Context())
    _rehearse(_contexts[0])


def _serve(control: socket.socket, is_urgent: bool) -> NoReturn:
    if not _contexts:
        warm_up()
    context = _contexts[0]
    context.fit_stack()
    if not is_urgent:
        _rehearse(context)
    data_bytes = limits.data_bytes()
    control.setblocking(True)
    control.sendall(_READY)
    received = job.receive(control)
    if received is None:
        os._exit(0)
    channel = Channel(control)
    run(context, channel, received, data_bytes).send(channel)
    os._exit(0)


class _RehearsalChannel(Channel):
    """A channel that answers each call itself."""

    def send(self, kind: int, number: int, header: bytes, body: bytes, announced_bytes: int | None = None) -> None:
        super().send(kind, number, header, body, announced_bytes)
        if kind == Kind.CALL:
            self._frames.append(Frame(Kind.ANSWER, number, b'{"failed": false}', b'{"result": 1}'))


def _rehearse(context: Context, code: str = REHEARSAL) -> None:
    """Receive a job, run it and send its result, all within this process."""
    host, guest = socket.socketpair()
    with host, guest:
        start = {"mode": "expression", "limits": {}, "tools": [], "files": []}
        host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, code.encode()))
        received = job.receive(guest)
        if received is not None:
            channel = _RehearsalChannel(guest)
            run(context, channel, received, None).send(channel)
