"""Who is told that a server offers something else than before.

In the older era a client is told on its connection, once it has asked for a list; in the newer one it subscribes.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

TOLD = 10_000
"""Connections that are remembered; of more than these, the ones that asked first are forgotten."""
TELL_SECONDS = 5.0
"""For one client that does not read."""


class Changes:
    """Clients of one server that want to know."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)
        self._asked: dict[tuple[int, str], ServerSession] = {}

    def remember(self, context: ServerRequestContext[Any], name: str | None) -> None:
        """This client asked for a list. `name` is what its session is called, where it has one."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS or name is None:
            return
        key = (
            id(context.lifespan_context),
            name,
        )  # a connection that is no session over HTTP has a lifespan of its own
        self._asked.pop(key, None)
        self._asked[key] = context.session
        if len(self._asked) > TOLD:
            self._asked.pop(next(iter(self._asked)))

    def forget(self, lifespan_context: object) -> None:
        """Its connections are closed."""
        self._asked = {key: session for key, session in self._asked.items() if key[0] != id(lifespan_context)}

    async def tell(self) -> None:
        """Tools, the stubs of those that they link, and the prompt: whoever has a list of them is to ask again."""
        await asyncio.gather(*(_told(session) for session in list(self._asked.values())))
        for event in (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()):
            await self._bus.publish(event)


async def _told(session: ServerSession) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(TELL_SECONDS):
            await session.send_tool_list_changed()
            await session.send_prompt_list_changed()
            await session.send_resource_list_changed()
