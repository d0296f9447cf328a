"""Verifies JSON Web Tokens of one issuer with the keys that it publishes, for the SDK's `BearerAuthBackend`.

Only asymmetric signatures are accepted. Keys are fetched on first use, and again when they are old or a token names an
unknown one. While the issuer cannot be reached, keys that were fetched in the last hours are still used; without keys
every token is refused.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import jwt
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken, TokenVerifier
from starlette.requests import HTTPConnection

from paddock.config_checks import is_protected
from paddock.server.authentication import Identity, Unauthorized
from paddock.tools.http_client import PIECES_PER_SECOND
from paddock.tools.message_filter import Throttle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddock.config import AuthConfig

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
DISCOVERY = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
FETCH_SECONDS = 5.0
FETCH_BYTES = 1024 * 1024
MAX_KEYS = 200
"""How many published keys are read. Reading the thousands that fit into FETCH_BYTES would hold the event loop."""
FRESH_SECONDS = 300.0
"""How long fetched keys are used without checking for newer ones."""
RETRY_SECONDS = 10.0
"""The shortest time between two attempts to fetch keys, however many tokens name unknown keys."""
REFRESH_SECONDS = 1.0
"""How long a token with a known key waits while the keys are fetched again."""
STALE_SECONDS = 4 * 3600.0
"""How long keys are used while the issuer cannot be reached."""
LEEWAY_SECONDS = 30.0
SUBJECT_CHARACTERS = 200
PRINCIPAL_PREFIX = "jwt:"
"""The prefix of the principals that JWTs name. The principal of a stored token contains no colon."""
_SILENT = "it has not answered yet"
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, LookupError, TypeError, RecursionError)
"""The exceptions that reading an issuer's answer may raise. A timeout is an OSError."""
_log = logging.getLogger(__name__)


class JwtIssuer(TokenVerifier):
    """The issuer in `[auth]`."""

    def __init__(self, settings: AuthConfig) -> None:
        self.settings = settings
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = -STALE_SECONDS
        self._fetching: asyncio.Task[None] | None = None
        self._failure = _SILENT
        self._http = httpx.AsyncClient(timeout=FETCH_SECONDS, follow_redirects=False)
        self._backend = BearerAuthBackend(self)

    async def identify(self, token: str) -> Identity:
        """Return the subject of a valid token that has the scopes in `[auth]`. Raises Unauthorized."""
        header = (b"authorization", f"Bearer {token}".encode())
        authenticated = await self._backend.authenticate(HTTPConnection({"type": "http", "headers": [header]}))
        if authenticated is None:
            raise Unauthorized("the token is not valid")
        credentials, user = authenticated
        missing = [scope for scope in self.settings.scopes if scope not in credentials.scopes]
        if missing:
            raise Unauthorized(f"the token lacks the scope {' '.join(missing)}", status=403, error="insufficient_scope")
        is_operator = bool(self.settings.operator_scope) and self.settings.operator_scope in credentials.scopes
        return Identity(user.username, "operator" if is_operator else "user", token="JWT")  # noqa: S106

    async def verify_token(self, token: str) -> AccessToken:
        """Return what a valid token says. Raises Unauthorized with the reason, where the SDK would have None."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise Unauthorized("the token is not signed with a private key of its issuer")
            key = await self._key(header.get("kid"))
            # PyJWT takes an RSA key that names no algorithm for one of RS256 alone.
            is_any_rsa = key.key_type == "RSA" and "alg" not in key._jwk_data  # noqa: SLF001
            claims = jwt.decode(
                token,
                key.key if is_any_rsa else key,
                algorithms=[header["alg"]],
                audience=self.settings.audience,
                issuer=self.settings.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            expires_at = int(claims["exp"]) + int(LEEWAY_SECONDS)
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as problem:
            raise Unauthorized(f"the token is not valid: {_reason(problem)}") from None
        subject = claims["sub"]
        if not 0 < len(subject) <= SUBJECT_CHARACTERS or not subject.isprintable():
            raise Unauthorized("the token's subject is not usable")
        principal = f"{PRINCIPAL_PREFIX}{subject}"
        return AccessToken(token="", client_id=principal, scopes=_scopes(claims), expires_at=expires_at)

    async def outage(self) -> str | None:
        """Fetch the keys if they are old. Returns why that fails and what follows, or None if it does not."""
        if time.monotonic() - self._fetched_at > FRESH_SECONDS:
            await self._refresh(REFRESH_SECONDS)
        age = time.monotonic() - self._fetched_at
        if age <= FRESH_SECONDS:
            return None
        left = f"accepted for {(STALE_SECONDS - age) / 3600:.1f} h more" if age < STALE_SECONDS else "refused"
        return f"the keys of {self.settings.issuer} cannot be fetched, its tokens are {left}: {self._failure}"

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])
        await self._http.aclose()

    async def _key(self, name: object) -> jwt.PyJWK:
        """Return the key with this id, or the only key for a token that names none. Raises Unauthorized."""
        age = time.monotonic() - self._fetched_at
        if age > FRESH_SECONDS or self._named(name) is None:
            is_usable = age <= STALE_SECONDS and self._named(name) is not None
            await self._refresh(REFRESH_SECONDS if is_usable else None)
        if time.monotonic() - self._fetched_at > STALE_SECONDS:
            raise Unauthorized("the keys of the token's issuer cannot be fetched now", status=503, error="")
        key = self._named(name)
        if key is None:
            raise Unauthorized("the token's issuer does not publish the key that it is signed with")
        return key

    def _named(self, name: object) -> jwt.PyJWK | None:
        if isinstance(name, str):
            return self._keys.get(name)
        return next(iter(self._keys.values())) if name is None and len(self._keys) == 1 else None

    async def _refresh(self, seconds: float | None) -> None:
        """Wait at most `seconds` until the keys are fetched again, unless that was tried a moment ago."""
        if self._fetching is None or self._fetching.done():
            if time.monotonic() - self._tried_at <= RETRY_SECONDS:
                return
            self._fetching = asyncio.create_task(self._fetch())
        await asyncio.wait([self._fetching], timeout=seconds)

    async def _fetch(self) -> None:
        """Fetch the issuer's keys. If that fails, log it and keep the old ones."""
        try:
            published = (await self._get(await self._address()))["keys"]
            keys = {each.key_id: each for each in map(_public_key, published[:MAX_KEYS]) if each is not None}
            if not keys:
                raise ValueError("it publishes no usable public key")
        except (*_FAILURES, jwt.PyJWTError) as why:
            self._failure = _reason(why)
            _log.warning("the keys of %s cannot be fetched: %s", self.settings.issuer, self._failure)
        else:
            self._keys, self._fetched_at, self._failure = keys, time.monotonic(), _SILENT
        finally:
            self._tried_at = time.monotonic()

    async def _address(self) -> str:
        """Return where the issuer's keys are: `auth.jwks_url`, or what its metadata says."""
        if self.settings.jwks_url:
            return self.settings.jwks_url
        problem: Exception = ValueError("it has no metadata")
        for path in DISCOVERY:
            try:
                metadata = await self._get(self.settings.issuer.rstrip("/") + path)
                if metadata["issuer"] != self.settings.issuer:
                    raise ValueError(f"its metadata names another issuer, {str(metadata['issuer'])[:200]!r}")
                keys = str(metadata["jwks_uri"])
                if not is_protected(keys):
                    raise ValueError("its metadata names keys that are not fetched over https://: set auth.jwks_url")
            except _FAILURES as why:
                problem = why
            else:
                return keys
        raise problem

    async def _get(self, url: str) -> Mapping[str, Any]:
        async with asyncio.timeout(FETCH_SECONDS), self._http.stream("GET", url) as response:
            if response.status_code != 200:
                raise ValueError(f"{url} answered {response.status_code}")
            body, throttle = bytearray(), Throttle(PIECES_PER_SECOND)
            async for part in response.aiter_bytes():
                await throttle.take(1)
                body += part
                if len(body) > FETCH_BYTES:
                    raise ValueError(f"{url} answered with more than {FETCH_BYTES >> 20} MB")
        value = json.loads(bytes(body))
        if not isinstance(value, dict):
            raise ValueError(f"{url} did not answer with a JSON object")  # noqa: TRY004  handled like other answers
        return value


def _public_key(published: Any) -> jwt.PyJWK | None:
    """Return a published key, or None if it is not a public key for signatures."""
    if not isinstance(published, dict) or published.get("kty") not in ("RSA", "EC", "OKP"):
        return None
    if published.get("use", "sig") != "sig":
        return None
    if "d" in published:  # a private key: everybody has it now, and reading it may take hours
        return None
    try:
        return jwt.PyJWK.from_dict(
            {name: value for name, value in published.items() if name != "alg" or value in ALGORITHMS}
        )
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """Return the scopes of a token: the text `scope`, or the list or text `scp`."""
    value = claims.get("scope", claims.get("scp", ""))
    names = value.split(" ") if isinstance(value, str) else value if isinstance(value, list) else ()
    return [name for name in names if isinstance(name, str)]


def _reason(problem: BaseException) -> str:
    text = str(problem) or type(problem).__name__
    return text[:200]
