"""Who sends a REST request, and the session that keeps its context."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from paddock.server.http import received
from paddock.server.sessions import Caller, ignore_progress

if TYPE_CHECKING:
    from starlette.requests import Request

    from paddock.server.services import Services

SESSION = "rest"


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
    caller = Caller(
        principal, session, ignore_progress, key=known.caller, role=known.identity.role, memory=known.memory
    )
    await services.check_session(caller)
    return caller
