"""An MCP server that needs a login, and its authorization server, both of the SDK: `python protected.py [OPTION]…`.

Each takes a port of the loopback. The first line printed is JSON with the addresses of both, `url` and `issuer`.
Options: `short` (access tokens expire at once), `static PORT` (no client can register; one with this port for its
listener is known), `sse` (the older transport).

Whoever opens `/authorize` is logged in, as `ada` or as the last user of `/test/become?user=…`. For tests there are also
`/test/revoke?what=access|all`, `/test/down`, `/test/up` and `/test/log` at the authorization server.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sys
import time
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

OPTIONS = sys.argv[1:]
STATIC = OAuthClientInformationFull(
    client_id="known-client",
    client_secret="known-secret-8d1f",  # noqa: S106
    redirect_uris=[AnyUrl("http://127.0.0.1:1/callback")],
    token_endpoint_auth_method="client_secret_basic",  # noqa: S106
    scope="tools",
)


class Accounts:
    """What the authorization server knows. A refresh token can be used once."""

    def __init__(self) -> None:
        self.clients = {STATIC.client_id: STATIC} if "static" in OPTIONS else {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.user = "ada"
        self.is_down = False
        self.log: list[str] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info
        self.log.append("registered")

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = f"code-{secrets.token_urlsafe(24)}"
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or ["tools"],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=self.user,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, _: OAuthClientInformationFull, code: str) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(self, _: OAuthClientInformationFull, code: AuthorizationCode) -> OAuthToken:
        del self.codes[code.code]
        self.log.append("exchanged")
        return self._issue(code)

    async def load_refresh_token(self, _: OAuthClientInformationFull, token: str) -> RefreshToken | None:
        return self.refresh.get(token)

    async def exchange_refresh_token(
        self, _: OAuthClientInformationFull, token: RefreshToken, __: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(token.token, None) is None:
            raise TokenError("invalid_grant", "used before")
        self.log.append("refreshed")
        return self._issue(token)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.clear()
        self.refresh.clear()
        self.log.append("revoked")

    async def exchange_identity_assertion(self, *_: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def _issue(self, grant: AuthorizationCode | RefreshToken) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe(24)}", f"refresh-{secrets.token_urlsafe(24)}"
        common: dict[str, Any] = {"client_id": grant.client_id, "scopes": grant.scopes, "subject": grant.subject}
        self.access[access] = AccessToken(token=access, resource=grant.resource, **common)
        self.refresh[refresh] = RefreshToken(token=refresh, resource=grant.resource, **common)
        # For the MCP server a token never expires by itself, so that a client that does not refresh is noticed.
        lifetime = 0 if "short" in OPTIONS else 3600
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=lifetime, scope=" ".join(grant.scopes))


accounts = Accounts()


def make_server(issuer: str, url: str) -> MCPServer:
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(issuer),
        resource_server_url=AnyHttpUrl(url),
        required_scopes=["tools"],
        validate_token_resource=True,
    )
    server = MCPServer("protected", version="1.0", token_verifier=accounts, auth=settings)

    @server.tool(structured_output=False)
    def whoami() -> str:
        """The user who has logged in."""
        token = get_access_token()
        return "" if token is None else str(token.subject)

    @server.tool(structured_output=False)
    def leak() -> str:
        """The token that was sent, in the hope that it is shown."""
        token = get_access_token()
        return "" if token is None else f"your token is {token.token}"

    @server.tool(structured_output=False)
    def remembered(context: Context[Any, Any]) -> str:
        """The user in the cookie."""
        request: Request = context.request_context.request  # type: ignore[assignment]
        return request.cookies.get("user", "")

    @server.tool(structured_output=False)
    async def meet(others: int) -> str:
        """Wait until `others` calls are here at once."""
        meeting.append(None)
        async with asyncio.timeout(30):
            while len(meeting) < others:
                await asyncio.sleep(0.005)
        return "met"

    return server


meeting: list[None] = []


async def revoke(request: Request) -> Response:
    accounts.access.clear()
    if request.query_params["what"] == "all":
        accounts.refresh.clear()
    return PlainTextResponse("ok")


async def switch(request: Request) -> Response:
    accounts.is_down = request.url.path.endswith("down")
    return PlainTextResponse("ok")


async def become(request: Request) -> Response:
    accounts.user = request.query_params["user"]
    return PlainTextResponse("ok")


async def show_log(_: Request) -> Response:
    known = [*accounts.access, *accounts.refresh, *accounts.codes]
    known += [client.client_secret for client in accounts.clients.values() if client.client_secret]
    return JSONResponse({"log": accounts.log, "secrets": known})


class Remembering:
    """Keeps the user of the first request in a cookie."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        token = accounts.access.get(headers.get(b"authorization", b"").decode().removeprefix("Bearer "))

        async def remember(message: Any) -> None:
            if message["type"] == "http.response.start" and token is not None and b"cookie" not in headers:
                message["headers"] = [*message["headers"], (b"set-cookie", f"user={token.subject}".encode())]
            await send(message)

        await self._app(scope, receive, remember)


class Slow:
    """Lets requests for tokens wait, from `/test/stall` to `/test/resume`. `/test/waiting` answers once one waits."""

    def __init__(self) -> None:
        self.is_waiting, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.may_go_on.set()

    async def exchange(self) -> None:
        self.is_waiting.set()
        await self.may_go_on.wait()

    async def control(self, request: Request) -> Response:
        match request.url.path.rpartition("/")[2]:
            case "stall":
                self.is_waiting.clear()
                self.may_go_on.clear()
            case "resume":
                self.may_go_on.set()
            case _:
                await self.is_waiting.wait()
        return PlainTextResponse("ok")


slow = Slow()


class Outage:
    """Answers 503 while the authorization server is down."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") == "/token":
            await slow.exchange()
        is_refused = accounts.is_down and not scope.get("path", "").startswith("/test/")
        await (PlainTextResponse("down", 503) if is_refused else self._app)(scope, receive, send)


def make_issuer(issuer: str) -> Starlette:
    routes = create_auth_routes(
        provider=accounts,
        issuer_url=AnyHttpUrl(issuer),
        client_registration_options=ClientRegistrationOptions(
            enabled="static" not in OPTIONS, valid_scopes=["tools"], default_scopes=["tools"]
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    routes += [Route("/test/revoke", revoke), Route("/test/down", switch), Route("/test/up", switch)]
    routes += [Route("/test/become", become), Route("/test/log", show_log)]
    routes += [Route(f"/test/{name}", slow.control) for name in ("stall", "waiting", "resume")]
    return Starlette(routes=routes, middleware=[Middleware(Outage)])


async def main() -> None:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [listener.getsockname()[1] for listener in listeners]
    path = "/sse" if "sse" in OPTIONS else "/mcp"
    url, issuer = f"http://127.0.0.1:{ports[0]}{path}", f"http://127.0.0.1:{ports[1]}"
    if "static" in OPTIONS:
        STATIC.redirect_uris = [AnyUrl(f"http://127.0.0.1:{OPTIONS[OPTIONS.index('static') + 1]}/callback")]
    server = make_server(issuer, url)
    served = server.sse_app() if "sse" in OPTIONS else server.streamable_http_app()
    served.add_middleware(Remembering)
    apps = [served, make_issuer(issuer)]
    print(json.dumps({"url": url, "issuer": issuer}), flush=True)
    running = [uvicorn.Server(uvicorn.Config(app, log_level="critical")) for app in apps]
    await asyncio.gather(*(each.serve([listener]) for each, listener in zip(running, listeners, strict=True)))


if __name__ == "__main__":
    asyncio.run(main())
