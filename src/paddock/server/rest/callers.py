"""Who sends a REST request, and the session that keeps its context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request

from paddock.server.http import received
from paddock.server.sessions import Caller

if TYPE_CHECKING:
    from paddock.server.services import Services

SESSION = "rest"


async def _ignore(done: float, total: float | None, message: str) -> None:
    """Discard progress, which the REST API reports as events."""


async def get_caller(services: Services, request: Request) -> Caller:
    """Return the caller. All REST requests of a principal share one session, which is kept in the store."""
    known = received(request)
    assert known is not None  # noqa: S101  set for every HTTP request
    principal = known.identity.principal
    session = services.sessions.get(f"{SESSION} {principal}", principal)
    if session.id != SESSION:
        session.id = SESSION
        stored = await services.store.sessions.get(principal, SESSION)
        if stored is not None:
            session.context.values.update(stored.state.get("context", {}))
            session.context.connections.update(stored.state.get("connections", {}))
    return Caller(principal, session, _ignore, None, known.caller, known.memory)
