"""Logs a person in to an MCP server: the SDK's OAuth flow, with a browser and a listener on this machine.

Nothing that the server or its authorization server sends is trusted: every answer is bounded, every address is checked,
and only the request with the flow's own `state` ends the wait for the browser.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from paddock.tools.connection import silence_libraries
from paddock.tools.http_client import EXCHANGE, Exchange
from paddock.tools.logins import Login, LoginFile, OAuthFailed
from paddock.tools.oauth import check_address, check_tokens, describe, fetch, make_client, with_tokens
from paddock.tools.sanitize import one_line

if TYPE_CHECKING:
    from mcp.client.auth.oauth2 import OAuthContext

    from paddock.tools.mcp_config import OAuth, Server

LOGIN_SECONDS = 300.0
"""How long a login may take, the time in the browser included."""
HEAD_BYTES = 16 * 1024
HEAD_SECONDS = 5.0
MAX_FIELDS = 20
PATH = "/callback"
PROTOCOL = "2025-06-18"
OLDER_STATUSES = (400, 404, 405)
"""The statuses with which a server that has only the older transport answers the newer one."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "paddock-client", "version": "1"},
    },
}
"""The first request to the server, which must refuse it with 401 and accept it with the token."""


async def log_in(
    server: Server, file: LoginFile, show: Callable[[str], None], answer: BrowserAnswer | None = None
) -> None:
    """Log in and store the login. `show` gets the address that a person must open. Raises OAuthFailed.

    The browser returns to a listener on this machine, unless `answer` is given, for a browser on another one.
    """
    if server.oauth is None:
        raise OAuthFailed("it is started by a command, or an Authorization header is configured for it")
    silenced = EXCHANGE.set(Exchange())
    silence_libraries()  # they log answers, and with them tokens
    try:
        listening = Callback(server.oauth.callback_port) if answer is None else nullcontext(answer)
        async with asyncio.timeout(LOGIN_SECONDS), listening as expected:
            login = await _Flow(server, server.oauth, expected, show).run(file)
            async with file.locked():
                file.save(login)
    except TimeoutError:
        raise OAuthFailed(f"nobody has logged in within {LOGIN_SECONDS:g} s") from None
    except OSError as problem:
        raise OAuthFailed(f"the login failed on this machine: {problem.strerror or type(problem).__name__}") from None
    finally:
        EXCHANGE.reset(silenced)


class _Flow:
    """One login. It drives the SDK's flow request by request, so that every answer is bounded."""

    def __init__(self, server: Server, oauth: OAuth, answer: BrowserAnswer, show: Callable[[str], None]) -> None:
        self._server, self._answer, self._show = server, answer, show
        self._last = ""  # the last answer of the authorization server, as a message shows it
        self._storage = _Storage(oauth, answer.address)
        self._issuer = oauth.issuer
        self._provider = OAuthClientProvider(
            server.url,
            OAuthClientMetadata(client_name="Paddock", redirect_uris=[AnyUrl(answer.address)]),
            self._storage,
            redirect_handler=self._redirect,
            callback_handler=answer.wait,
        )

    async def run(self, file: LoginFile) -> Login:
        try:
            status = await self._send(is_older=self._server.transport == "sse")
            if self._storage.tokens is None and self._server.or_sse and status in OLDER_STATUSES:
                status = await self._send(is_older=True)
        except OAuthRegistrationError:
            raise OAuthFailed(
                f"its authorization server does not let Paddock register itself ({self._last}); "
                "register a client there and set oauth.client_id for the server"
            ) from None
        except OAuthTokenError:
            raise OAuthFailed(f"its authorization server refused to issue a token ({self._last})") from None
        except OAuthFlowError as problem:
            raise OAuthFailed(one_line(str(problem))) from None
        except (ValueError, TypeError, RecursionError, httpx2.InvalidURL):  # pydantic's ValidationError too
            raise OAuthFailed("its authorization server sent something that cannot be used") from None
        tokens = self._storage.tokens
        if tokens is None:
            raise OAuthFailed(f"it does not ask for a login: it answered HTTP {status} without one")
        if status in (401, 403):
            raise OAuthFailed(f"it refused the new token with HTTP {status}")
        return with_tokens(_make_login(self._provider.context, file), tokens)

    async def _send(self, *, is_older: bool) -> int:
        """Do what the SDK's flow asks for, to its end. Returns the last status of the MCP server."""
        request = self._hello(is_older=is_older)
        flow = self._provider.async_auth_flow(request)
        status = 0
        async with make_client() as client:
            try:
                outgoing = await anext(flow)
                while True:
                    if self._storage.is_configured and self._provider.context.client_info is None:
                        raise OAuthFailed("it names another authorization server than oauth.issuer")
                    is_own = outgoing is request
                    response = await fetch(client, outgoing, self._server.url, has_body=not is_own)
                    status, self._last = (response.status_code, self._last) if is_own else (status, describe(response))
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return status
            finally:
                await flow.aclose()

    def _hello(self, *, is_older: bool) -> httpx2.Request:
        """The first request of a transport; `is_older` is for SSE."""
        server = self._server
        headers = {**server.headers, "mcp-protocol-version": PROTOCOL}
        if is_older:
            return httpx2.Request("GET", server.url, headers={**headers, "accept": "text/event-stream"})
        headers["accept"] = "application/json, text/event-stream"
        return httpx2.Request("POST", server.url, json=_HELLO, headers=headers)

    async def _redirect(self, address: str) -> None:
        url = httpx2.URL(address)
        check_address(url, self._server.url)
        if not (address.isascii() and address.isprintable()):
            raise OAuthFailed("its authorization server named an address that cannot be opened")
        context = self._provider.context
        client, metadata = context.client_info, context.oauth_metadata
        fallback = context.get_authorization_base_url(context.server_url)  # which serves the MCP server
        if self._issuer and metadata is None and self._issuer.rstrip("/") != fallback:
            raise OAuthFailed("the metadata of oauth.issuer cannot be read, so its addresses are not known")
        methods = (metadata and metadata.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
        if self._storage.is_configured and client is not None and client.client_secret:
            is_basic = "client_secret_basic" in methods or "client_secret_post" not in methods
            client.token_endpoint_auth_method = "client_secret_basic" if is_basic else "client_secret_post"
        self._answer.expect(address)
        self._show(address)


def _make_login(context: OAuthContext, file: LoginFile) -> Login:
    """The login without its tokens."""
    client, metadata = context.client_info, context.oauth_metadata
    assert client is not None  # noqa: S101  there are tokens
    base = context.get_authorization_base_url(context.server_url)
    is_bound = context.should_include_resource_param(context.protocol_version)
    return Login(
        server=file.server,
        principal=file.principal,
        url=context.server_url,
        client_id=client.client_id,
        client_secret=client.client_secret or "",
        client_auth=client.token_endpoint_auth_method or "none",
        token_endpoint=str(metadata.token_endpoint) if metadata else urljoin(base, "/token"),
        revocation_endpoint=str(metadata.revocation_endpoint or "") if metadata else "",
        resource=context.get_resource_url() if is_bound else "",
        access_token="",
        id=secrets.token_hex(8),
    )


class _Storage:
    """Holds what the SDK's flow stores until it is complete. A configured client is not registered again."""

    def __init__(self, oauth: OAuth, redirect: str) -> None:
        self.tokens: OAuthToken | None = None
        self.is_configured = bool(oauth.client_id)
        self._client: OAuthClientInformationFull | None = None
        if oauth.client_id:
            self._client = OAuthClientInformationFull(
                client_id=oauth.client_id,
                client_secret=oauth.client_secret or None,
                redirect_uris=[AnyUrl(redirect)],
                issuer=oauth.issuer or None,
            )

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        check_tokens(tokens)  # the flow sends the token next
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class BrowserAnswer:
    """The answer that the authorization server sends the browser with to a port of the browser's machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._state = ""
        self._result: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    def expect(self, address: str) -> None:
        """Accept only the state of the address that was opened: any web page can send requests to this machine."""
        self._state = httpx2.URL(address).params.get("state", "")

    async def wait(self) -> AuthorizationCodeResult:
        """Wait for the browser and return its answer. Raises OAuthFailed if the login was refused."""
        return await self._result

    def accept(self, given: Mapping[str, str]) -> bool:
        """End the wait if this is the answer to this login. Returns whether it is."""
        is_expected = bool(self._state) and secrets.compare_digest(
            given.get("state", "").encode(errors="replace"), self._state.encode()
        )
        if not is_expected or self._result.done():
            return False
        if "error" in given:
            self._result.set_exception(OAuthFailed(f"the login was refused: {one_line(given['error'], 60)}"))
        else:
            code, iss = given.get("code", ""), given.get("iss")
            self._result.set_result(AuthorizationCodeResult(code=code, state=given["state"], iss=iss))
        return True


class Callback(BrowserAnswer):
    """A listener on loopback, to which the authorization server sends the browser back."""

    def __init__(self, port: int | None) -> None:
        super().__init__(port or 0)

    async def __aenter__(self) -> Callback:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=HEAD_BYTES)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        self._result.cancel()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        status, text = "400 Bad Request", "This is not the answer that Paddock is waiting for."
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            if self.accept(parse_callback(head)):
                status, text = "200 OK", "Paddock has the answer. You can close this window."
        with suppress(OSError):
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(text)}\r\n"
                f"cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}".encode()
            )
            await writer.drain()
            writer.close()


def parse_callback(head: bytes) -> dict[str, str]:
    """The parameters in the head of a request to the listener. Raises ValueError if it asks for something else."""
    method, target, _ = head.decode("ascii").split(" ", 2)
    parts = urlsplit(target)
    if (method, parts.path) != ("GET", PATH):
        raise ValueError("this is not the callback")
    return {name: values[-1] for name, values in parse_qs(parts.query, max_num_fields=MAX_FIELDS).items()}
