"""The RESULT, in a header that is small enough."""

from __future__ import annotations

import json

from paddock.guest.javascript.channel import Channel
from paddock.guest.javascript.running import Outcome
from paddock.guest.python import errors
from paddock.jail import wire
from paddock.jail.wire import Kind

TEXT_BYTES = 24 * 1024
"""How much of a message, and of a traceback, fits into a header with the other; more goes into the body."""


def tell(channel: Channel, outcome: Outcome) -> None:
    """Send the RESULT. What is longer than a frame is cut: the host allows less than that."""
    header, body = outcome.header.encode(), outcome.body[: wire.BODY_BYTES]
    if len(header) > TEXT_BYTES:
        said = json.loads(header)
        texts = {key: said[key] for key in ("message", "traceback")}
        body = errors.encode(texts)
        header = errors.encode(said | {key: errors.shortened(text, TEXT_BYTES) for key, text in texts.items()})
    channel.send(Kind.RESULT, 0, header, body)
