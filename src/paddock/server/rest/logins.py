"""Logins to upstreams that use OAuth, over REST: begin, complete with the browser's code, remove."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from paddock.errors import NotFound, RequestError
from paddock.model.request import LOCAL
from paddock.server.http import received
from paddock.server.rest import problems
from paddock.server.rest.models import BegunLoginModel, CodeBody, LoginBody
from paddock.server.rest.routes import BodyRoute, get_caller
from paddock.tools.logins import LoginFile, OAuthFailed
from paddock.tools.oauth import log_out

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.tools.mcp_config import OAuth, Server


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["tools"], route_class=BodyRoute)

    async def find(request: Request, name: str) -> tuple[Server, OAuth, LoginFile]:
        """Return a server, its OAuth settings, and where the caller's login to it is stored."""
        known = received(request)
        if known is None or not known.identity.is_verified:
            raise HTTPException(403, "Forbidden: a login is stored for a principal; send a token")
        if name not in await services.paddock.upstreams():
            raise NotFound(f"there is no server {name[:100]!r}")
        server = services.paddock.upstream_settings(name)
        if server.oauth is None:
            raise RequestError(f"{name!r} uses no login")
        if not server.oauth.per_principal and known.identity.role != "operator":
            raise HTTPException(403, f"Forbidden: everybody uses the operator's login to {name!r}")
        principal = known.identity.principal if server.oauth.per_principal else LOCAL
        return server, server.oauth, LoginFile(services.config.data_directory, name, principal)

    @router.post("/servers/{name}/login", response_model=BegunLoginModel, responses=problems.responses(400, 404, 422))
    async def begin_login(request: Request, name: str, body: LoginBody) -> dict[str, Any]:
        """Begin to log in to an MCP server that uses OAuth. A login is yours alone if its configuration says so."""
        server, oauth, file = await find(request, name)
        services.allowances.check_call((await get_caller(services, request)).key)
        port = oauth.callback_port or body.port
        with _failures(name):
            return {"address": await services.logins.begin(server, file, port), "port": port}

    @router.post("/servers/{name}/login/code", status_code=204, responses=problems.responses(400, 404, 422))
    async def finish_login(request: Request, name: str, body: CodeBody) -> None:
        """Complete a login with what the browser returned. The server stores and refreshes the tokens."""
        _, _, file = await find(request, name)
        with _failures(name):
            await services.logins.finish(file, body.model_dump(exclude_none=True))
        services.audit.record("login.added", principal=file.principal, server=name)

    @router.delete("/servers/{name}/login", status_code=204, responses=problems.responses(404, 422))
    async def remove_login(request: Request, name: str) -> None:
        """Remove your login to an MCP server, and revoke its tokens there if it offers that."""
        _, _, file = await find(request, name)
        if file.signature() is None:
            raise NotFound(f"there is no login to {name!r}")
        with _failures(name):
            await log_out(file)
        services.audit.record("login.removed", principal=file.principal, server=name)

    return router


@contextmanager
def _failures(name: str) -> Iterator[None]:
    try:
        yield
    except (OAuthFailed, OSError) as problem:  # a TimeoutError is an OSError
        why = problem if isinstance(problem, OAuthFailed) else "it is locked or cannot be changed"
        raise RequestError(f"cannot log in to {name!r}: {why}") from None
