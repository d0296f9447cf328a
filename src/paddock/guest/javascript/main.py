"""Where a guest process begins and ends: READY, a job, the script, RESULT, exit.

A forked process copies each page that it first writes to. A guest therefore runs a script of ours before it is READY,
in the very context that its script will have: that leaves nothing behind that a script could see.
"""

from __future__ import annotations

import contextlib
import os
import socket
import traceback
from typing import NoReturn

from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.javascript.script import run
from paddock.guest.python import job, limits
from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

REHEARSED = "const x = [1 + 1];\nif (x) { console.log('') }\nawait callTool('a.b', { x });\nx"
ENDS = (
    REHEARSED,
    "function f(x) {\n  return x.y.z\n}\nf({})",
    "await new Promise(done => setTimeout(done, 1)); console.log({a: [1, 'x']}, new Error('x')); ({a: new Map()})",
    "Promise.reject(1)",
    "const x = ;",
)
"""A script for every kind of end."""
_READY = wire.pack(Kind.READY)
_made: list[Context] = []
"""Made in the zygote, for each guest that is forked from it: no script but ours has run there."""


def serve(control: socket.socket, hurry: bool = False) -> NoReturn:
    """Run the one script that arrives over `control`, and end the process. In a `hurry`, without a rehearsal.

    The process has one thread, is walled in, and has the host's pipes as descriptors 1 and 2.
    """
    try:
        _serve(control, hurry)
    except OSError:
        pass  # the host is gone
    except BaseException:  # noqa: BLE001 (whatever a script has done to this process)
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(1)  # never back into the process that was forked


def warm_up() -> None:
    """For a zygote, before it forks: make the context that guests start from."""
    for code in ENDS:
        _rehearse(Context(), code)
    limits.prepare()
    _made.append(Context())
    _rehearse(_made[0])


def _serve(control: socket.socket, hurry: bool) -> NoReturn:
    if not _made:
        warm_up()
    context = _made[0]
    context.fit_stack()
    if not hurry:
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
    """Answers each call itself."""

    def send(self, kind: int, number: int, header: bytes, body: bytes) -> None:
        super().send(kind, number, header, body)
        if kind == Kind.CALL:
            self._frames.append(Frame(Kind.ANSWER, number, b'{"failed": false}', b'{"result": 1}'))


def _rehearse(context: Context, code: str = REHEARSED) -> None:
    """Receive a job, run it and send its result, within this process."""
    host, guest = socket.socketpair()
    with host, guest:
        start = {"mode": "expression", "limits": {}, "tools": [], "files": []}
        host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, code.encode()))
        received = job.receive(guest)
        if received is not None:
            channel = _RehearsalChannel(guest)
            run(context, channel, received, None).send(channel)
