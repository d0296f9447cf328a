"""Where a guest process begins and ends: READY, a job, the script, RESULT, exit."""

from __future__ import annotations

import contextlib
import os
import socket
import traceback
from typing import NoReturn

from paddock.guest.javascript import ending, rehearsal
from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.context import Context
from paddock.guest.javascript.running import run
from paddock.guest.python import job, limits
from paddock.jail import wire
from paddock.jail.wire import Kind

_READY = wire.pack(Kind.READY)
_made: list[Context] = []
"""Made in the zygote, for whatever guest is forked from it: no script but ours has run there."""


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
    """For a zygote, before it forks: the context that guests start from, after others have run every kind of end."""
    rehearsal.rehearse_every_end()
    limits.prepare()
    _made.append(Context())
    rehearsal.rehearse(_made[0])


def _serve(control: socket.socket, hurry: bool) -> NoReturn:
    if not _made:
        warm_up()
    context = _made[0]
    context.fit_stack()
    if not hurry:
        rehearsal.rehearse(context)
    data_bytes = limits.data_bytes()
    control.setblocking(True)
    control.sendall(_READY)
    received = job.receive(control)
    if received is None:
        os._exit(0)
    channel = Channel(control)
    outcome = run(context, channel, received, data_bytes)
    ending.tell(channel, outcome)
    os._exit(0)
