"""The HTTP server: MCP at `/mcp`, REST at `/v1` (`rest`), `/metrics`, and health checks at `/healthz` and `/readyz`.

Every request passes through `_Guard`. It checks `Host`, `Origin` and `Sec-Fetch-Site`, so that a web page cannot reach
the server, by DNS rebinding or otherwise, and identifies the sender (`authentication`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from paddock import descriptors
from paddock.errors import Overloaded
from paddock.model import envelope
from paddock.model.request import LOCAL
from paddock.server import authentication, logs
from paddock.server.authentication import Authenticator, Identity, Unauthorized
from paddock.server.readiness import Readiness
from paddock.server.request_memory import RETRY_SECONDS, SHARE, SMALL_BYTES, HeldMemory, RequestMemory, parsed_bytes
from paddock.tools.size import LARGE, is_larger
from paddock.tracing import continued

if TYPE_CHECKING:
    from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http import StreamableHTTPServerTransport
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paddock.config import Config, ServerConfig
    from paddock.server.audit import Audit
    from paddock.server.services import Services

BODY_BYTES = 32 * 1024 * 1024
"""Maximum size of one request, including code, inputs and files."""
REMAINING_BYTES = 512 * 1024
"""The memory that a message may take without the arguments of its tool call. Each session keeps its last one."""
PRINCIPAL_SESSIONS = 1000
"""How many sessions one principal may have open. Each takes 40 KB, and 0.2 ms of every full garbage collection."""
TOO_MANY_CONNECTIONS = "Too many connections are open: try again later"
EXPOSED_HEADERS = ("mcp-session-id", "retry-after", "www-authenticate")
"""Response headers that web pages may read, besides those that browsers always allow."""
_HOST = re.compile(r"(?P<name>[\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?", re.IGNORECASE | re.ASCII)
_ANY_PORT = ":*"
_HEALTH = "/healthz"
_METADATA = "/.well-known/oauth-protected-resource"
MCP_PATH = "/mcp"
_Result = TypeVar("_Result")
_RECEIVED_KEY = "paddock_received"
_ARTIFACT = re.compile(r"/v1/artifacts/a_[\w-]+")
ANYBODY = Identity("", "user", is_verified=False)
"""The sender of a request that needs no token."""


@dataclass(slots=True)
class Received:
    """What is known about a request before MCP reads it."""

    identity: Identity
    caller: str  # requests with the same value share run slots and memory
    body_bytes: int  # the SDK keeps the body as long as the call lasts
    memory: HeldMemory
    disconnected: asyncio.Event  # set when the client closes its connection
    arguments: dict[str, Any] | None = None  # of a large tool call, whose message has none any more


def make_app(server: Server[Any], services: Services, authenticator: Authenticator | None = None) -> Starlette:
    """Return the ASGI application. Its lifespan starts and ends the clients' sessions."""
    from mcp.server.transport_security import TransportSecuritySettings

    from paddock.server.metrics import Metrics
    from paddock.server.rest import make_rest

    async def check_ready(request: Request) -> PlainTextResponse:
        known, problems = received(request), await readiness.problems()
        if known is None or known.identity.role != "operator":
            problems = [services.without_host_paths(each) for each in problems]
        lines = problems or ["ok", *await readiness.warnings()]
        return PlainTextResponse("".join(f"{each}\n" for each in lines), 503 if problems else 200)

    async def show_metrics(request: Request) -> Response:
        known = received(request)
        if known is None or known.identity.role != "operator":
            return _Refused(403, "Forbidden: /metrics is for operators; use a token of that role").response("/metrics")
        body, content_type = metrics.page(request.headers.get("accept", ""))
        return Response(body, headers={"content-type": content_type})

    metrics = services.metrics = services.metrics or Metrics(services)
    settings = services.config.server
    authenticator, auth = (
        authenticator or Authenticator(services.config, services.store),
        _auth_settings(services.config),
    )
    readiness = Readiness(services, authenticator.issuer)
    routes = [
        Route(_HEALTH, _health, methods=["GET"]),
        Route("/readyz", check_ready, methods=["GET"]),
        Route("/metrics", show_metrics, methods=["GET"]),
    ]
    # The SDK's check is disabled: it accepts every host that starts with a local name and a colon, and refuses hosts
    # without a port. `_Guard` checks the host instead.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=BODY_BYTES,
        auth=auth,  # without its `token_verifier`, which would check tokens again, at this path alone
        custom_starlette_routes=routes,
        transport_security=unchecked,
    )
    app.add_exception_handler(HTTPException, _answer_error)
    app.add_exception_handler(Exception, _answer_fault)  # Starlette logs it too
    # Everything else goes to REST. A mount would not match paths with a line break.
    app.router.redirect_slashes = False
    app.router.default = _EndedByDisconnect(make_rest(services, readiness))
    # Remove the SDK's check of the size, which would keep a copy of the body as long as the call lasts. `_Guard` has
    # checked the size already.
    manager = server.session_manager
    manager.asgi_app = manager.asgi_app.app  # type: ignore[assignment]
    _share_sessions(manager)
    metadata_url = (
        str(build_resource_metadata_url(auth.resource_server_url)) if auth and auth.resource_server_url else ""
    )
    guarding: dict[str, Any] = {"settings": settings, "authenticator": authenticator, "audit": services.audit}
    app.add_middleware(_Guard, **guarding, metadata_url=metadata_url)
    if settings.origins:
        # This middleware is outside of the guard, because a browser's preflight request has no token.
        app.add_middleware(
            CORSMiddleware,
            allow_origin_regex=_origins_pattern(settings.origins),
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=("*",),
            allow_private_network=True,
            expose_headers=EXPOSED_HEADERS,
        )
    return app


def _share_sessions(manager: StreamableHTTPSessionManager) -> None:
    """Limit the sessions of each principal, so that others can still open some.

    The SDK has a single limit for all clients, and only its private attributes list the open sessions.
    """
    admit = manager._admit_session  # noqa: SLF001

    def admit_fairly(requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        owners, opened = manager._session_owners, manager._server_instances  # noqa: SLF001
        own = sum(owners.get(each) == requestor for each in opened)
        return None if own >= PRINCIPAL_SESSIONS else admit(requestor)

    manager._admit_session = admit_fairly  # type: ignore[method-assign]  # noqa: SLF001


def _auth_settings(config: Config) -> AuthSettings | None:
    """Return what the SDK publishes for clients without a token (RFC 9728), if JSON Web Tokens are accepted."""
    if not config.auth.issuer:
        return None
    settings = {
        "issuer_url": config.auth.issuer,
        "resource_server_url": f"{config.server.url.rstrip('/')}{MCP_PATH}",
        "required_scopes": list(config.auth.scopes) or None,
        "validate_token_resource": False,  # `JwtIssuer` checks the audience
    }
    return AuthSettings.model_validate(settings)


def received(request: Request | None) -> Received | None:
    """Return what is known about this request; None over stdio."""
    return None if request is None else getattr(request.state, _RECEIVED_KEY, None)


async def run_in_turn(request: Request, value: object, work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Return `work(*arguments)`. If `value`, on which it works, is large, it runs in a thread, one of each caller."""
    known = received(request)
    if known is None or not is_larger(value, LARGE):
        return work(*arguments)
    async with known.memory.turn:
        return await asyncio.to_thread(work, *arguments)


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for it
    path, headers, detail = request.scope["path"], error.headers or {}, error.detail
    if "Allow" in headers:
        detail = f"{path} has no {request.method}; it has {headers['Allow']}"
    return _Refused(error.status_code, detail, None, **headers).response(path)


async def _answer_fault(request: Request, error: Exception) -> JSONResponse:
    return _Refused(500, "The server failed. Its log says why.").response(request.scope["path"])


async def refuse_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that finds too many connections open."""
    refused = _Refused(503, TOO_MANY_CONNECTIONS, retry_after="1", connection="close")
    await refused.response(scope["path"])(scope, receive, send)


async def _health(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class _Refused(Exception):
    """Raised for a request that is refused. Holds the HTTP status, and the reason that the client gets."""

    def __init__(self, status: int, reason: str, data: dict[str, Any] | None = None, **headers: str) -> None:
        super().__init__(reason)
        self.status, self.data = status, data
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self, path: str) -> JSONResponse:
        """Return the refusal in the shape that clients of this path read.

        MCP clients show only the message of a JSON-RPC error. Everybody else gets a problem (RFC 9457).
        """
        if path != MCP_PATH:
            from paddock.server.rest.problems import problem

            return problem(self.status, str(self), "Refused", failure=self.data, headers=self.headers)
        error = {"code": INVALID_REQUEST, "message": str(self), **({} if self.data is None else {"data": self.data})}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, self.status, self.headers)


def _is_signed_link(scope: Scope) -> bool:
    """Whether a request uses a link to an artifact, which needs no token. The route checks the signature."""
    is_read = scope["type"] == "http" and scope["method"] == "GET"
    return (
        is_read and _ARTIFACT.fullmatch(scope["path"]) is not None and "signature" in QueryParams(scope["query_string"])
    )


def _is_part_of_a_page(headers: Headers) -> bool:
    """Whether a browser loads this for a page of another origin, for example as an image, a script or a frame."""
    is_opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_opened


def _is_endless(scope: Scope, headers: Headers) -> bool:
    """Whether the answer is a stream of notifications: only the client ends it. MCP checks that the header is true."""
    is_listening = headers.get("mcp-method") == "subscriptions/listen"
    return scope["path"] == MCP_PATH and (scope.get("method") == "GET" or is_listening)


class _Guard:
    """Checks who sends a request, reads its body within limits, and notices when its client disconnects.

    In protocol versions with sessions, the SDK continues a call after a disconnect, so that the client can fetch missed
    events later. This server stores no events, so it ends the call.
    """

    def __init__(
        self, app: ASGIApp, settings: ServerConfig, authenticator: Authenticator, audit: Audit, metadata_url: str
    ) -> None:
        self._app, self._settings, self._authenticator, self._audit = app, settings, authenticator, audit
        self._metadata_url = metadata_url
        self._host = urlsplit(settings.url).hostname
        self._origins = re.compile(_origins_pattern(settings.origins))
        self._memory = RequestMemory(settings.request_bytes)
        self._requests: Counter[str] = Counter()  # requests in progress, by caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if scope["path"] == f"{MCP_PATH}/":  # a redirect would send the token unencrypted behind a TLS proxy
            scope["path"] = MCP_PATH
        if scope["path"].endswith("\n"):  # routes would ignore the line break, and `/mcp\n` would pass the checks below
            scope["path"] += "/"  # an unknown path
        if scope["path"] == MCP_PATH:  # no events are stored, and the SDK would send no answer at all
            scope["headers"] = [each for each in scope["headers"] if each[0] != b"last-event-id"]
        headers = Headers(scope=scope)
        try:
            self._check(scope, headers)
            with self._counted(f"unknown {_address(scope)}"):  # a slow issuer of tokens makes its senders wait
                identity = await self._identify(scope, headers)
            logs.principal.set(identity.principal)
            # Not a connection or an unverified token: anybody can have many of those.
            caller = identity.principal if identity.is_verified else _address(scope)
            memory = HeldMemory(self._memory, caller)
            with self._counted(caller), memory:
                # Paths that need no token need no body either, so a sender without a token takes no memory.
                has_body = scope["type"] == "http" and identity is not ANYBODY
                began = time.monotonic()
                body = await self._receive_body(headers, receive, memory) if has_body else deque()
                if body and body[0]["type"] == "http.disconnect":
                    return  # nobody waits for an answer
                size = sum(len(message.get("body", b"")) for message in body)
                arguments = None
                if memory.size_bytes > REMAINING_BYTES and scope["path"] == MCP_PATH:
                    async with memory.turn:
                        arguments = await _take_arguments(body[0])
                if time.monotonic() - began > authentication.REMEMBERED_SECONDS:
                    await self._identify(scope, headers)  # its token may have been revoked meanwhile
                known = Received(identity, caller, size, memory, asyncio.Event(), arguments)
                await self._serve(scope, receive, send, body, known)
        except _Refused as refused:
            await refused.response(scope["path"])(scope, receive, send)
        except asyncio.CancelledError:  # the server is being shut down; `_serve` handles its own
            reason = "The server was shut down before it had received the whole request; nothing was done"
            await _Refused(503, reason).response(scope["path"])(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, body: deque[Message], known: Received) -> None:
        scope.setdefault("state", {})[_RECEIVED_KEY] = known
        headers = Headers(scope=scope)
        is_endless, has_started, is_refused = _is_endless(scope, headers), False, False
        is_removed = False

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            known.disconnected.set()

        async def receive_again() -> Message:
            if body:
                return body.popleft()
            await known.disconnected.wait()
            return {"type": "http.disconnect"}

        async def forward(message: Message) -> None:
            nonlocal has_started, is_refused
            if is_endless and has_started and not is_refused:
                try:
                    await self._identify(scope, headers)
                except _Refused:  # its token is no longer valid: the stream ends as if its client had gone
                    is_refused = True
                    known.disconnected.set()
            has_started = True
            if not is_refused:
                await send(message)

        async def watch_token() -> None:
            nonlocal is_removed
            while not await self._authenticator.is_removed(headers.getlist("authorization")):  # noqa: ASYNC110
                await asyncio.sleep(authentication.REMEMBERED_SECONDS)
            is_removed = True  # by a purge. What the request would store belongs to whoever gets the name next
            known.disconnected.set()

        # Nothing but a disconnect can follow the body. Several parts of an application may wait for it.
        watching = [asyncio.create_task(watch())]
        if known.identity.is_verified:
            watching.append(asyncio.create_task(watch_token()))
        try:
            await self._app(scope, receive_again, forward)
            if is_refused:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif is_removed and not has_started:
                raise _Refused(401, "Unauthorized: the token was removed")
        except asyncio.CancelledError:  # the server is being shut down, and this call did not end in time
            if not has_started:
                reason = "The server was shut down before it could answer; check what the call did before you repeat it"
                await _Refused(503, reason).response(scope["path"])(scope, receive, send)
        finally:
            for task in watching:
                task.cancel()
            # An open connection and a session keep their last request, whose memory no longer counts.
            known.arguments = None

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        """Count a request of this caller. Raises _Refused if its others take its share of the connections."""
        if self._requests[caller] >= descriptors.max_connections() * SHARE:
            raise _overloaded(
                Overloaded("too many of your requests are in progress", RETRY_SECONDS), connection="close"
            )
        self._requests[caller] += 1
        try:
            yield
        finally:
            self._requests -= Counter([caller])  # forgets a caller without requests

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise _Refused unless the host is this server, any web page is allowed, and the body has one length."""
        if not all(self._is_own(host) for host in headers.getlist("host") or [""]):
            raise _Refused(421, "Invalid Host header: it must name this server: localhost, its address, or server.url")
        for origin in headers.getlist("origin"):
            if not self._origins.fullmatch(origin):
                raise _Refused(403, "Invalid Origin header: only web pages in server.origins may use this server")
        if "origin" not in headers and _is_part_of_a_page(headers) and not _is_signed_link(scope):
            raise _Refused(403, "Invalid Sec-Fetch-Site header: another web page may only link to this server")
        if (
            "transfer-encoding" in headers and "content-length" in headers
        ):  # a proxy may see another request in the body
            raise _Refused(400, "A request has either Transfer-Encoding or Content-Length", connection="close")

    def _is_own(self, host: str) -> bool:
        """Whether `host` names this server. An address is safe: DNS rebinding needs a host name."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].lower()
        if name in ("localhost", self._host):
            return True
        is_loopback = _is_loopback_address(name.strip("[]"))
        return is_loopback is not None and (is_loopback or self._authenticator.is_required)

    async def _identify(self, scope: Scope, headers: Headers) -> Identity:
        """Return who sends the request. Raises _Refused. The SDK serves a session only to whoever started it."""
        if scope["path"] == _HEALTH or scope["path"].startswith(_METADATA) or _is_signed_link(scope):
            return ANYBODY
        address = _address(scope)
        try:
            identity = await self._authenticator.identify(headers.getlist("authorization"))
        except Unauthorized as problem:
            self._audit.refused(problem, address)
            title = {401: "Unauthorized", 403: "Forbidden"}.get(problem.status, "Unavailable")
            raise _Refused(problem.status, f"{title}: {problem}", www_authenticate=self._challenge(problem)) from None
        if identity.is_verified:
            self._audit.authenticated(identity, address)
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=identity.principal, scopes=[]))
        return identity

    def _challenge(self, problem: Unauthorized) -> str:
        parts = [f'error="{problem.error}"'] if problem.error else []
        if self._metadata_url:
            parts.append(f'resource_metadata="{self._metadata_url}"')
        return f"Bearer {', '.join(parts)}".strip()

    async def _receive_body(self, headers: Headers, receive: Receive, memory: HeldMemory) -> deque[Message]:
        """Read the whole body. Raises _Refused if it is too large or too slow, or if requests take too much memory."""
        if int(headers.get("content-length", 0)) > BODY_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                return await self._read_body(receive, memory)
        except TimeoutError:
            seconds = f"{self._settings.body_seconds:g} s"
            raise _Refused(408, f"The request did not arrive within {seconds}", connection="close") from None

    async def _read_body(self, receive: Receive, memory: HeldMemory) -> deque[Message]:
        body, size, more, refusal = bytearray(), 0, True, None
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return deque([message])
            more = message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > BODY_BYTES:
                raise _too_large()
            if refusal is None:  # otherwise the rest is discarded: clients read the answer after sending everything
                body += message.get("body", b"")
                refusal = self._count(body, memory, is_whole=not more)
                if refusal is not None:
                    body.clear()
                    memory.shrink()
        if refusal is not None:
            raise refusal
        return deque([{"type": "http.request", "body": bytes(body), "more_body": False}])

    def _count(self, body: bytearray, memory: HeldMemory, *, is_whole: bool) -> _Refused | None:
        """Count the memory for `body`. Returns the refusal if it is too much."""
        is_large = len(body) > SMALL_BYTES
        needed = parsed_bytes(body) if is_whole else len(body)
        if is_large and needed > self._memory.largest_bytes:
            reason = (
                f"The values of this request could take {needed >> 20} MB of memory, and server.request_bytes "
                f"allows {self._memory.largest_bytes >> 20} MB: send less at once"
            )
            return _Refused(413, reason)
        try:
            memory.grow(needed, is_large=is_large)
        except Overloaded as problem:
            return _overloaded(problem)
        return None


async def _take_arguments(message: Message) -> dict[str, Any] | None:
    """Take the arguments of a large tool call out of `message`, which the SDK parses on the event loop.

    Raises _Refused if too much is left.
    """
    try:
        message["body"], arguments = await asyncio.to_thread(_split_call, message["body"])
    except (ValueError, RecursionError) as problem:
        raise _Refused(400, f"The request cannot be read: it is not JSON: {problem}") from None
    if parsed_bytes(message["body"]) > REMAINING_BYTES:
        limit = f"{REMAINING_BYTES >> 10} KB of memory"
        raise _Refused(413, f"The request without the arguments of a tool call could take more than {limit}: send less")
    return arguments


def _split_call(body: bytes) -> tuple[bytes, dict[str, Any] | None]:
    """Return the message with empty arguments, and those that it had; None if it is not a tool call with some."""
    message = json.loads(body)
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return body, None
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("arguments"), dict):
        return body, None
    arguments, params["arguments"] = params["arguments"], {}
    return json.dumps(message).encode(), arguments


class _EndedByDisconnect:
    """Cancels the handling of a request whose client disconnects, and with it the run that the client waits for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known: Received = scope["state"][_RECEIVED_KEY]
        is_answered = False

        async def forward(message: Message) -> None:
            nonlocal is_answered
            is_answered = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with continued(Headers(scope=scope)):  # the task keeps it
            task = asyncio.ensure_future(self._app(scope, receive, forward))
        disconnect = asyncio.ensure_future(known.disconnected.wait())
        try:
            await asyncio.wait([task, disconnect], return_when=asyncio.FIRST_COMPLETED)
            if task.done() or is_answered:  # after the answer, uvicorn reports a disconnect at once
                await task
        finally:
            disconnect.cancel()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _address(scope: Scope) -> str:
    """The client's address; LOCAL on a Unix socket."""
    return str((scope.get("client") or [LOCAL])[0])


@lru_cache(maxsize=100)
def _is_loopback_address(text: str) -> bool | None:
    """Whether an address is one of this machine's loopback; None if `text` is no address."""
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return None


def _overloaded(problem: Overloaded, **headers: str) -> _Refused:
    hints = [
        "Nothing was run. Wait for retry_after_seconds, then send it again, with fewer or smaller requests at once."
    ]
    data = envelope.rate_limited("request", str(problem), problem.retry_after_seconds, hints=hints)
    retry_after = str(math.ceil(problem.retry_after_seconds))
    return _Refused(429, str(problem), data, retry_after=retry_after, **headers)


def _too_large() -> _Refused:
    return _Refused(413, f"The request is larger than {BODY_BYTES >> 20} MB: send less at once")


def _origins_pattern(origins: tuple[str, ...]) -> str:
    """Return a pattern for the allowed origins. `http://localhost:*` allows any port, and no port."""
    ports = {each: r"(:\d{1,5})?" if each.endswith(_ANY_PORT) else "" for each in origins}
    return f"(?i:{'|'.join(re.escape(each.removesuffix(_ANY_PORT)) + port for each, port in ports.items()) or '(?!)'})"
