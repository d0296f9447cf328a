"""Identifies the sender of a request: anybody on this machine over loopback, or the principal of a verified token.

Three kinds of tokens are accepted: `server.token`, which is the owner's; tokens of `paddock tokens add`; and JSON Web
Tokens of the issuer in `[auth]`. Without a way to verify the sender, nothing is served beyond loopback.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.authentication import AuthenticationError

from paddock.errors import ConfigError, StoreError
from paddock.model.request import LOCAL
from paddock.store.tokens import PREFIX, UNVERIFIED_PREFIX, Role, StoredToken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddock.config import Config
    from paddock.store.database import Store

TOKEN_CHARACTERS = 16 * 1024
"""A longer token is not read, and counts as unknown."""
REMEMBERED_SECONDS = 1.0
"""How long the result of a token's lookup is reused. A revoked token may still be accepted for this long."""
REMEMBERED_TOKENS = 1000
_HOW = "send it as `Authorization: Bearer TOKEN`"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sends a request."""

    principal: str
    role: Role
    is_verified: bool = True  # whether a token proves it; if not, anybody on this machine may be the sender
    token: str = field(default="", compare=False)  # the name of that token in the audit log


class Unauthorized(AuthenticationError):
    """Raised if the sender of a request is unknown or may not use this server. The sender gets the text."""

    def __init__(self, problem: str, *, status: int = 401, error: str = "invalid_token", token: str = "") -> None:
        """`token` is the id of the token, if it was once valid."""
        super().__init__(problem)
        self.status, self.error, self.token = status, error, token


class Authenticator:
    """Identifies the senders of requests by their `Authorization` headers."""

    def __init__(self, config: Config, store: Store, *, is_required: bool = False) -> None:
        self._digest = hashlib.sha256(config.server.token.encode()).digest() if config.server.token else None
        self._tokens = store.tokens
        self._known: OrderedDict[bytes, tuple[float, StoredToken | None]] = OrderedDict()
        self.issuer = None
        if config.auth.issuer:
            from paddock.server.jwt_issuer import JwtIssuer

            self.issuer = JwtIssuer(config.auth)
        self.is_required = is_required or config.server.require_token or bool(self._digest or self.issuer)
        """Whether a request without a token is refused."""

    async def identify(self, headers: Sequence[str]) -> Identity:
        """Return who sends a request with these `Authorization` headers. Raises Unauthorized."""
        if not headers and not self.is_required:
            return Identity(LOCAL, "operator", is_verified=False)
        if not headers:
            raise Unauthorized(f"this server requires a token; {_HOW}", error="")
        token = _bearer(headers[0]) if len(headers) == 1 else ""
        if self._is_own(token):
            return Identity(LOCAL, "operator", token="server.token")  # noqa: S106  the name of the setting
        if token.startswith(PREFIX):
            return await self._stored(token)
        if self.issuer is not None and token:
            return await self.issuer.identify(token)
        if self.is_required:
            raise Unauthorized("the token is not one of this server's, or is not sent as `Authorization: Bearer TOKEN`")
        # Nothing is verified on loopback, but callers with different headers do not see each other's data.
        digest = hashlib.sha256(", ".join(headers).encode(errors="replace")).hexdigest()
        return Identity(f"{UNVERIFIED_PREFIX}{digest[:32]}", "user", is_verified=False)

    async def is_removed(self, headers: Sequence[str]) -> bool:
        """Whether the store has the token no more, as after a purge. One that was revoked or has expired is kept."""
        token = _bearer(headers[0]) if len(headers) == 1 else ""
        with suppress(Unauthorized):
            return token.startswith(PREFIX) and not self._is_own(token) and await self._look_up(token) is None
        return False

    def _is_own(self, token: str) -> bool:
        digest = hashlib.sha256(token.encode()).digest()
        return self._digest is not None and hmac.compare_digest(digest, self._digest)

    async def _stored(self, token: str) -> Identity:
        found = await self._look_up(token)
        problem = "this server does not know the token" if found is None else found.problem(time.time())
        if found is None or problem is not None:
            raise Unauthorized(problem or "", token="" if found is None else found.id)
        return Identity(found.principal, found.role, token=found.id)

    async def _look_up(self, token: str) -> StoredToken | None:
        digest, now = hashlib.sha256(token.encode()).digest(), time.monotonic()
        found_at, found = self._known.get(digest, (0.0, None))
        if not found_at or now - found_at > REMEMBERED_SECONDS:
            try:
                found = await self._tokens.find(token)
            except StoreError:
                raise Unauthorized("tokens cannot be checked now; try again later", status=503, error="") from None
            self._known.pop(digest, None)
            self._known[digest] = (now, found)
            while len(self._known) > REMEMBERED_TOKENS:
                self._known.popitem(last=False)
        return found

    async def close(self) -> None:
        """Close the connections to the issuer."""
        if self.issuer is not None:
            await self.issuer.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, config: Config, tokens: Iterable[StoredToken]) -> None:
    """Raise ConfigError if a server on `host` can be reached from elsewhere, and no valid token is known."""
    if is_loopback(host) or config.server.token or config.auth.issuer:
        return
    now = time.time()
    if not any(token.problem(now) is None for token in tokens):
        raise ConfigError(
            f"refusing to listen on {host!r}: without tokens, whoever reaches this server can run code on it. "
            "Create one with `paddock tokens add NAME`, or set [auth] in the configuration; or listen on 127.0.0.1, "
            "and reach it from elsewhere through a tunnel such as ssh -L"
        )


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.isascii() and len(token) <= TOKEN_CHARACTERS else ""
