"""Links that let anybody who has one read one artifact, without a token, until the link expires.

A link is signed with a key of this server. It names its last day, so that it stays the same for a whole day.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from urllib.parse import urlencode

from paddock.errors import StoreError

KEY_BYTES = 32
DAY_SECONDS = 86_400
DAYS = 7
"""How many whole days a link is valid."""


class ArtifactLinks:
    """Signs links and checks them. The key is a file that only this user can read."""

    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file
        self._key: bytes | None = None

    def query(self, principal: str, artifact_id: str, now: float) -> str:
        """The query of a link that is valid from now on."""
        until = int(now // DAY_SECONDS + DAYS + 1)
        return urlencode({"until": until, "signature": self._signature(principal, artifact_id, until)})

    def is_valid(self, principal: str, artifact_id: str, until: int, signature: str, now: float) -> bool:
        """Whether this server made the link for this artifact of this principal, and the link has not expired."""
        expected = self._signature(principal, artifact_id, until)
        return hmac.compare_digest(expected.encode(), signature.encode()) and now < until * DAY_SECONDS

    def _signature(self, principal: str, artifact_id: str, until: int) -> str:
        message = "\n".join((artifact_id, str(until), principal)).encode()  # the first two contain no line break
        return hmac.new(self._read_key(), message, hashlib.sha256).hexdigest()

    def _read_key(self) -> bytes:
        if self._key is None:
            try:
                self._key = _read_or_create(self._key_file)
            except OSError as problem:
                raise StoreError(f"the key of links to artifacts cannot be used: {problem}") from None
        return self._key


def _read_or_create(path: Path) -> bytes:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as file:  # noqa: PTH123  an open descriptor
                file.write(secrets.token_bytes(KEY_BYTES))
            os.link(new, path)  # fails if another process was first
        except FileExistsError:
            pass
        finally:
            new.unlink()
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123  no wait at a pipe
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise OSError(f"{path} does not have {KEY_BYTES} bytes; remove it, and a new one is made")
    return key
