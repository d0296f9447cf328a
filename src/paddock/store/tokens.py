"""Access tokens in the database. Each belongs to a principal; only a digest of it is stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from paddock.errors import RequestError
from paddock.model.request import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy

    from paddock.store.database import Store

Role = Literal["user", "operator"]
PREFIX = "pdk_"
"""How every token begins, so that tools that look for leaked secrets can recognise one."""
UNVERIFIED_PREFIX = "token-"
"""How the principals of callers with an unverified token begin. A stored token's principal may not begin with it."""
_NAME = re.compile(rf"(?!{UNVERIFIED_PREFIX}|{LOCAL}\Z)[A-Za-z0-9][A-Za-z0-9._@-]{{0,63}}")
_TOKEN = re.compile(rf"{PREFIX}([0-9a-f]{{12}})_[\w-]{{43}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredToken:
    """What is known about a token. `expires_at` and `revoked_at` may be None."""

    id: str
    principal: str
    role: Role
    created_at: float
    expires_at: float | None
    revoked_at: float | None

    def problem(self, now: float) -> str | None:
        """Why the token is not valid at the time `now`, or None."""
        if self.principal == LOCAL:
            return f"the token is for {LOCAL!r}, the operator's own name: create one with another name"
        if self.revoked_at is not None:
            return "the token was revoked"
        return "the token has expired" if self.expires_at is not None and self.expires_at <= now else None

    def to_dict(self) -> dict[str, Any]:
        """Return the token as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


class StoredTokens:
    """The tokens of every principal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, principal: str, role: Role = "user", *, expires_at: float | None = None) -> tuple[str, str]:
        """Create a token. Returns its id, and its text, which is not stored.

        Raises RequestError if something is stored for a principal without tokens: an earlier one had the name.
        """
        if not _NAME.fullmatch(principal):
            raise RequestError(
                f"the name {principal[:80]!r} is not usable: use 1 to 64 letters, digits, '.', '_', '@' and '-', "
                f"beginning with a letter or digit, and not with {UNVERIFIED_PREFIX!r}; {LOCAL!r} is the operator's own"
            )
        token_id = secrets.token_hex(6)
        text = f"{PREFIX}{token_id}_{secrets.token_urlsafe(32)}"
        row = {
            "id": token_id,
            "principal": principal,
            "role": role,
            "digest": _digest(text),
            "created_at": time.time(),
            "expires_at": expires_at,
        }

        def work(connection: sqlalchemy.Connection) -> None:
            from paddock.store.principals import has_remains
            from paddock.store.tables import sa, tokens

            if has_remains(connection, principal):
                raise RequestError(
                    f"something is still stored for an earlier {principal!r}; remove it first, with "
                    f"`paddock principals purge {principal} --yes`"
                )
            connection.execute(sa.insert(tokens), row)

        await self._store.writer.write(work, synced=True)
        return token_id, text

    async def list(self) -> tuple[StoredToken, ...]:
        """Return all tokens, oldest first."""
        return await self._store.read(lambda connection: tuple(token for token, _ in _select(connection)))

    async def revoke(self, name: str) -> tuple[StoredToken, ...]:
        """Revoke the token with the id `name`, or all tokens of the principal `name`. Returns those it revoked."""

        def work(connection: sqlalchemy.Connection) -> tuple[StoredToken, ...]:
            from paddock.store.tables import sa, tokens

            is_named = ((tokens.c.id == name) | (tokens.c.principal == name)) & tokens.c.revoked_at.is_(None)
            revoked = tuple(token for token, _ in _select(connection, is_named))
            connection.execute(sa.update(tokens).where(is_named).values(revoked_at=time.time()))
            return revoked

        return await self._store.writer.write(work, synced=True)

    async def find(self, text: str) -> StoredToken | None:
        """Return the token with this text, valid or not."""
        parts = _TOKEN.fullmatch(text)
        if parts is None:
            return None

        def work(connection: sqlalchemy.Connection) -> StoredToken | None:
            from paddock.store.tables import tokens

            found = _select(connection, tokens.c.id == parts[1])
            return next((token for token, digest in found if hmac.compare_digest(digest, _digest(text))), None)

        # Nobody's token waits in the queue, and a store that cannot be written must not delay every request.
        return await self._store.read(work, is_urgent=True)


def _select(
    connection: sqlalchemy.Connection, *conditions: sqlalchemy.ColumnElement[bool]
) -> Sequence[tuple[StoredToken, str]]:
    """Return tokens with their digests, oldest first."""
    from paddock.store.tables import sa, tokens

    columns = [tokens.c[name] for name in (*StoredToken.__slots__, "digest")]
    query = sa.select(*columns).where(*conditions).order_by(tokens.c.created_at, tokens.c.id)
    return [(StoredToken(*values), digest) for *values, digest in connection.execute(query)]


def _digest(text: str) -> str:
    """Return the stored form of a token. A token is random, so one round of a fast hash suffices."""
    return hashlib.sha256(text.encode()).hexdigest()
