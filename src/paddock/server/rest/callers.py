"""Who sends a REST request, and the session that keeps its context."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException

from paddock.server.http import received
from paddock.server.sessions import Caller, ignore_progress

if TYPE_CHECKING:
    from starlette.requests import Request

    from paddock.server.services import Services

T = TypeVar("T")
SESSION = "rest"


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. If the client disconnects first, cancel `work`."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, disconnect = asyncio.create_task(work), asyncio.create_task(disconnected())
    try:
        await asyncio.wait([task, disconnect], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(400, "the client disconnected")
        return task.result()
    finally:
        for each in (task, disconnect):
            each.cancel()
        await asyncio.wait([task, disconnect])


async def get_caller(services: Services, request: Request) -> Caller:
    """Return the caller. All REST requests of a principal share one session, which is kept in the store."""
    known = received(request)
    assert known is not None  # noqa: S101  set for every HTTP request
    principal = known.identity.principal
    session = services.sessions.get(f"{SESSION} {principal}", principal)
    session_id = f"{SESSION}-{hashlib.sha256(principal.encode()).hexdigest()[:24]}"
    if session.id != session_id:
        stored = await services.store.sessions.get(principal, session_id)
        session.id, session.stored = session_id, stored
        session.context.values.update(stored.get("context", {}))
        session.context.connections.update(stored.get("connections", {}))
    return Caller(principal, session, ignore_progress, key=known.caller, memory=known.memory)
