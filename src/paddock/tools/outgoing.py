"""Messages on their way to a server over HTTP, each with the exchange of whoever sends it.

A transport posts them in tasks of its own; without this, those would not know which call to blame a status on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_types import JSONRPCNotification

from paddock.tools.http_client import EXCHANGE, Exchange

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage, RequestId

    Sent = tuple[Exchange | None, SessionMessage]

NOTICE_SECONDS = 5.0
"""For a notification to be taken; what hangs longer is given up, so that it does not pile up."""


def cancelled_by(said: JSONRPCMessage) -> RequestId | None:
    """The request that `said` cancels, if it is about that at all."""
    if not isinstance(said, JSONRPCNotification) or said.method != "notifications/cancelled":
        return None
    number = (said.params or {}).get("requestId")
    return number if isinstance(number, int | str) else None


class Outgoing:
    """The end of a stream that the SDK writes to."""

    def __init__(self, inner: MemoryObjectSendStream[Sent]) -> None:
        self._inner = inner

    async def send(self, item: SessionMessage) -> None:
        await self._inner.send((EXCHANGE.get(), item))

    async def aclose(self) -> None:
        self._inner.close()

    async def __aenter__(self) -> Outgoing:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._inner.close()
