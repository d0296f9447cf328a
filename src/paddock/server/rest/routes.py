"""What the routes of the REST API share: how a body is parsed, and who sends a request."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from python_multipart.multipart import parse_options_header

from paddock.server.http import received, run_in_turn
from paddock.server.sessions import Caller, ignore_progress

if TYPE_CHECKING:
    from paddock.server.services import Services

SESSION = "rest"
PIECE_BYTES = 64 * 1024
"""How much of a form is parsed in one turn of the event loop."""
CONTENT_TYPE_CHARACTERS = 1000
"""A longer Content-Type is not parsed: that takes quadratic time."""


class BodyRoute(APIRoute):
    """A route that parses a large body in a thread, so that other callers are served meanwhile."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_request(request: Request) -> Response:
            return await handle(_Request(request.scope, request.receive))

        return handle_request


class _Request(Request):
    _is_form = False

    async def stream(self) -> AsyncGenerator[bytes, None]:
        async for data in super().stream():
            if not self._is_form:
                yield data
                continue
            for at in range(0, len(data), PIECE_BYTES):  # python_multipart takes quadratic time for the head of a part
                yield data[at : at + PIECE_BYTES]
                await asyncio.sleep(0)

    async def json(self) -> Any:
        body = await self.body()
        return await run_in_turn(self, body, json.loads, body)

    def form(self, **limits: Any) -> Any:
        # Starlette decodes with any codec that the caller names: punycode takes hours for a few megabytes.
        value = self.headers.get("content-type", "")
        kind, options = parse_options_header(value if len(value) <= CONTENT_TYPE_CHARACTERS else "")
        if kind != b"multipart/form-data" or options.get(b"charset", b"utf-8").lower() != b"utf-8":
            raise HTTPException(400, "the body must be multipart/form-data in UTF-8")
        self._is_form = True
        return super().form(**limits)


async def get_caller(services: Services, request: Request) -> Caller:
    """Return the caller. All REST requests of a principal share one session, which is kept in the store."""
    known = received(request)
    assert known is not None  # noqa: S101  set for every HTTP request
    principal = known.identity.principal
    session = services.sessions.get(f"{SESSION} {principal}", principal)
    session_id = f"{SESSION}-{hashlib.sha256(principal.encode()).hexdigest()[:24]}"
    if session.id != session_id:
        stored, session.created_at = await services.store.sessions.get(principal, session_id)
        session.id, session.stored = session_id, stored
        session.context.values.update(stored.get("context", {}))
        session.context.connections.update(stored.get("connections", {}))
    caller = Caller(
        principal, session, ignore_progress, key=known.caller, role=known.identity.role, memory=known.memory
    )
    await services.check_session(caller)
    return caller
