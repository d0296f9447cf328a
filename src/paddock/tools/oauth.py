"""The credentials of a stored login: the access token for each request, refreshed when needed.

The authorization server is not trusted: requests to it are limited in time and size, go only to the address that was
found at the login, and follow no redirect. At worst, calls of the MCP server that it belongs to fail.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import json
import logging
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import httpx2
import msgspec
from pydantic import ValidationError

from paddock.tools.http_client import PIECES_PER_SECOND, certificates
from paddock.tools.interim import pace_interim_responses
from paddock.tools.logins import Login, LoginFile, OAuthFailed, UnusableLogin
from paddock.tools.message_filter import Throttle
from paddock.tools.secrets import credentials

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthToken

FETCH_SECONDS = 10.0
FETCH_BYTES = 64 * 1024
RETRY_SECONDS = 5.0
"""The shortest time between two attempts to refresh a token while the authorization server fails."""
MAX_LIFETIME_SECONDS = 10 * 365 * 86_400
REMEMBERED_SECRETS = 12
"""How many replaced secrets are still redacted, because an answer that is under way may contain them."""
log = logging.getLogger(__name__)
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_FINAL_ERRORS = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})


class Credentials:
    """The login to one server. It notices when the login is replaced or removed by another process."""

    def __init__(self, url: str, file: LoginFile) -> None:
        self._url = url
        self.file = file
        self.problem = ""
        """Why the stored login is not used."""
        self._login: Login | None = None
        self._signature: object = ()
        self._seen: tuple[str, ...] = ()  # a tuple, because other threads read it
        self._refreshing: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        self._failure = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any answer, error or log."""
        return credentials(self._seen)

    @property
    def login_id(self) -> str:
        """Which login is used now; empty if there is none."""
        login = self._load()
        return "" if login is None else login.id

    async def token(self) -> str:
        """The access token, refreshed if it has expired; "" if nobody has logged in. Raises OAuthFailed."""
        login = self._load()
        if login is not None and login.is_expired and login.refresh_token:
            await self._refresh(login.access_token)
            login = self._login
        return "" if login is None else login.access_token

    async def renew(self, refused: str) -> str:
        """An access token other than `refused`, or "" if there is none. Raises OAuthFailed."""
        login = self._load()
        if login is not None and login.access_token == refused and login.refresh_token:
            await self._refresh(refused)
            login = self._login
        return "" if login is None or login.access_token == refused else login.access_token

    async def close(self) -> None:
        """Wait until a refresh has ended: without the new tokens, somebody would have to log in again."""
        if self._refreshing is not None:
            await asyncio.wait([self._refreshing])

    def _load(self) -> Login | None:
        signature = self.file.signature()
        if signature != self._signature:
            self.problem, self._login = "", None
            try:
                self._set(None if signature is None else self.file.load(), signature)
            except UnusableLogin as problem:
                self.problem, self._signature = str(problem), signature
        return self._login

    def _set(self, login: Login | None, signature: object) -> None:
        if login is not None and login.url != self._url:
            self.problem, login = "its address has changed since somebody logged in", None
        self._login, self._signature = login, signature
        used = () if login is None else login.secrets
        self._seen = (*(each for each in self._seen if each not in used), *used)[-REMEMBERED_SECRETS:]

    async def _refresh(self, stale: str) -> None:
        """Refresh the tokens once for all callers. Cancelling them does not stop it: the old tokens may be void."""
        if time.monotonic() < self._retry_at:
            raise OAuthFailed(self._failure)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._try_refresh(stale))
        await asyncio.shield(self._refreshing)

    async def _try_refresh(self, stale: str) -> None:
        try:
            async with self.file.locked():
                login = self._load()
                if login is not None and login.access_token == stale and login.refresh_token:
                    # Kept even if it cannot be stored: the old tokens may be void.
                    self._set(await refresh(login), self.file.signature())
                    self._store()
        except (OAuthFailed, OSError) as problem:  # a TimeoutError is an OSError
            why = str(problem) if isinstance(problem, OAuthFailed) else "its login is locked or cannot be changed"
            self._failure, self._retry_at = why, time.monotonic() + RETRY_SECONDS
            raise OAuthFailed(why) from None

    def _store(self) -> None:
        if self._login is None:
            return
        try:
            self.file.save(self._login)
        except OSError as problem:
            log.warning("the refreshed login to %r cannot be stored: %s", self.file.server, problem.strerror)
        self._signature = self.file.signature()


async def refresh(login: Login) -> Login:
    """The login with new tokens, or without a refresh token if that is no longer valid. Raises OAuthFailed."""
    data = {"grant_type": "refresh_token", "refresh_token": login.refresh_token, "client_id": login.client_id}
    if login.resource:
        data["resource"] = login.resource
    async with make_client() as client:
        return renewed(login, await fetch(client, _request(login, login.token_endpoint, data), login.url))


def renewed(login: Login, response: httpx2.Response) -> Login:
    """The login after this answer to a refresh. Raises OAuthFailed."""
    if error_code(response) in _FINAL_ERRORS:
        return msgspec.structs.replace(login, refresh_token="")
    if response.status_code != 200:
        raise OAuthFailed(f"its authorization server answered {describe(response)}")
    from mcp.shared.auth import OAuthToken

    try:
        tokens = OAuthToken.model_validate_json(response.content)
    except ValidationError:
        raise OAuthFailed("its authorization server sent no valid token") from None
    return with_tokens(login, tokens)


async def log_out(file: LoginFile) -> bool:
    """Remove a login. Returns whether the authorization server has revoked its tokens. Raises OSError."""
    async with file.locked():
        try:
            found = file.load()
        except UnusableLogin:
            found = None
        file.delete()
    return found is not None and await revoke(found)


async def revoke(login: Login) -> bool:
    """Tell the authorization server that the tokens are no longer used. Returns whether it has accepted that."""
    if not login.revocation_endpoint:
        return False
    data = {"token": login.refresh_token or login.access_token, "client_id": login.client_id}
    with suppress(OAuthFailed):
        async with make_client() as client:
            response = await fetch(client, _request(login, login.revocation_endpoint, data), login.url)
        return response.status_code == 200
    return False


def with_tokens(login: Login, tokens: OAuthToken) -> Login:
    """The login with these tokens. What a refresh does not mention stays as it is. Raises OAuthFailed."""
    check_tokens(tokens)
    lifetime = tokens.expires_in
    expires_at = None if lifetime is None else time.time() + min(max(lifetime, 0), MAX_LIFETIME_SECONDS)
    return msgspec.structs.replace(
        login,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or login.refresh_token,
        scope=tokens.scope or login.scope,
        expires_at=expires_at,
    )


def check_tokens(tokens: OAuthToken) -> None:
    """Raise OAuthFailed if a token cannot be sent in a header."""
    if not all(map(_TOKEN.fullmatch, (tokens.access_token, tokens.refresh_token or "none"))):
        raise OAuthFailed("its authorization server sent a token that cannot be used")


def _request(login: Login, url: str, data: dict[str, str]) -> httpx2.Request:
    """A request of the client that has logged in, with its secret if it has one (RFC 6749, section 2.3.1)."""
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    if login.client_secret and login.client_auth == "client_secret_basic":
        pair = f"{quote(login.client_id, safe='')}:{quote(login.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif login.client_secret:
        data = {**data, "client_secret": login.client_secret}
    return httpx2.Request("POST", url, content=urlencode(data).encode(), headers=headers)


def make_client() -> httpx2.AsyncClient:
    """A client for authorization servers. It sends no header or cookie of the MCP server."""
    client = httpx2.AsyncClient(
        headers={"user-agent": "paddock", "accept-encoding": "identity"},
        timeout=FETCH_SECONDS,
        verify=certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
    )
    pace_interim_responses(client)
    return client


async def fetch(
    client: httpx2.AsyncClient, request: httpx2.Request, server_url: str, *, has_body: bool = True
) -> httpx2.Response:
    """Send a request and return the answer with its whole body, which is bounded. Raises OAuthFailed.

    A redirect is returned, not followed. Without `has_body` the body is not read.
    """
    check_address(request.url, server_url)
    host = request.url.netloc.decode()
    request.headers["accept-encoding"] = "identity"  # a small compressed body could become a huge one
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                body = await _read(response, host) if has_body else b""
            finally:
                await response.aclose()
    except TimeoutError:
        raise OAuthFailed(f"{host} did not answer within {FETCH_SECONDS:g} s") from None
    except (httpx2.TransportError, httpx2.StreamError) as problem:
        raise OAuthFailed(f"{host} cannot be reached: {type(problem).__name__}") from None
    kept = [(name, value) for name, value in response.headers.multi_items() if name in _KEPT_HEADERS]
    bounded = httpx2.Response(response.status_code, headers=kept, content=body, request=request)
    bounded.next_request = response.next_request
    return bounded


_KEPT_HEADERS = ("content-type", "www-authenticate", "location")


async def _read(response: httpx2.Response, host: str) -> bytes:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise OAuthFailed(f"the answer of {host} is compressed, although the request asked for no compression")
    body, throttle = bytearray(), Throttle(PIECES_PER_SECOND)
    async for piece in response.aiter_raw():
        await throttle.take(1)
        body += piece
        if len(body) > FETCH_BYTES:
            raise OAuthFailed(f"the answer of {host} is larger than {FETCH_BYTES // 1024} KB")
    return bytes(body)


def check_address(url: httpx2.URL, server_url: str) -> None:
    """Raise OAuthFailed for an address that a login must not use. Servers name the addresses, so none is trusted.

    Codes and tokens travel over HTTPS; a server on this machine may use HTTP on this machine.
    """
    server = httpx2.URL(server_url)
    is_own = (url.scheme, url.host, url.port) == (server.scheme, server.host, server.port)
    is_local = url.scheme == "http" and _is_loopback(url.host) and _is_loopback(server.host)
    if not (url.scheme == "https" or is_own or is_local):
        shown = f"{url.scheme}://{url.netloc.decode(errors='replace')}"
        raise OAuthFailed(f"the login would use {shown}, which is not encrypted; only https:// is accepted there")
    if url.userinfo and not is_own:
        raise OAuthFailed("the login would use an address with a user name")


def error_code(response: httpx2.Response) -> str:
    """The `error` of an OAuth answer; empty if it has none."""
    if response.status_code not in (400, 401, 403):
        return ""
    with suppress(ValueError, RecursionError):
        body: Any = json.loads(response.content)
        code = body.get("error") if isinstance(body, dict) else None
        if isinstance(code, str) and _ERROR_CODE.fullmatch(code):
            return code
    return ""


def describe(response: httpx2.Response) -> str:
    """The status of an answer with its error code. The rest of the body may contain secrets or anything else."""
    return f"HTTP {response.status_code} {error_code(response)}".rstrip()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
