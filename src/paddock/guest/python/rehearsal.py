"""Running scripts of no consequence, so that the first real one finds everything warm.

A forked process copies each page that it first writes to, 3 µs apiece, and one run writes to some two hundred. A guest
rehearses before it is READY. A zygote does so before it forks, so that guests inherit warm code.
"""

from __future__ import annotations

import asyncio
import builtins
import socket
import warnings

from paddock.guest.python import functions, job, running, script, space
from paddock.guest.python.channel import Channel
from paddock.jail import wire
from paddock.jail.wire import Kind

PLAIN = "x = [1 + 1]\nif x:\n    print(end='')\nx"
FAILING = "def f(x):\n    return 1 / x\nf(0)"
AWAITING = "import asyncio\nawait asyncio.sleep(0)\n{1}"
TIMES = 20
"""CPython rewrites code that has run a few times; where it is shared, that should be over."""


def rehearse(source: str = PLAIN) -> None:
    """Receive a job, run it and send its result, within this process."""
    host, guest = socket.socketpair()
    with host, guest:
        start = {"mode": "expression", "limits": {"memory_bytes": None}, "tools": ["x"], "files": []}
        host.sendall(wire.pack(Kind.START, 0, start) + wire.pack(Kind.CODE, 0, None, source.encode()))
        received = job.receive(guest)
        if received is None:
            return
        channel = Channel(guest)
        names = {"__name__": "rehearsal", "__builtins__": builtins}
        space.fill(names, received, functions.functions(channel))
        outcome = running.run(script.compiled(received.code, is_expression=True), names, None, is_script=False)
        channel.send(Kind.RESULT, 0, {"status": outcome.status}, outcome.text.encode())


def warm_up() -> None:
    """For a zygote: rehearse every kind of end."""
    for source in (PLAIN, FAILING, AWAITING) * TIMES:
        rehearse(source)
    # A thread that has once had an event loop gets no other from `get_event_loop`; guests should find it new.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(None)
