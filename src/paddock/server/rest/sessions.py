"""The caller's sessions, which are live interpreters, over REST: list, reset, delete."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request

from paddock.server.rest import problems
from paddock.server.rest.models import SessionModel
from paddock.server.rest.routes import BodyRoute, get_caller

if TYPE_CHECKING:
    from paddock.server.services import Services


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["sessions"], route_class=BodyRoute)

    @router.get("/sessions", response_model=list[SessionModel], responses=problems.responses())
    async def list_sessions(request: Request) -> list[dict[str, Any]]:
        """List your live sessions."""
        caller = await get_caller(services, request)
        return [asdict(each) for each in await services.paddock.sessions(principal=caller.principal)]

    @router.post("/sessions/{name}/reset", status_code=204, responses=problems.responses(404))
    async def reset_session(request: Request, name: str) -> None:
        """End the interpreter of a session, so that its next run starts with nothing. Cancels a run in progress."""
        caller = await get_caller(services, request)
        await services.paddock.reset_session(name, principal=caller.principal)

    @router.delete("/sessions/{name}", status_code=204, responses=problems.responses(404))
    async def delete_session(request: Request, name: str) -> None:
        """End a session. Cancels a run in progress."""
        caller = await get_caller(services, request)
        await services.paddock.delete_session(name, principal=caller.principal)

    return router
