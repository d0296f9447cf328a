"""Logins to MCP servers that use OAuth. Each is stored in a file that only its owner can read."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import shlex
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from paddock.model.request import LOCAL

FOLDER = "logins"
MAX_BYTES = 256 * 1024
EARLY_SECONDS = 10.0
"""A token is refreshed this long before it expires."""
LOCK_SECONDS = 30.0
POLL_SECONDS = 0.05
NOT_PRIVATE = "the file of its login belongs to another user or can be read by others, so it is not used"
UNREADABLE = "the file of its login cannot be read"


class OAuthFailed(Exception):
    """Raised if an authorization server cannot be used. The text says why and has no secret."""


class UnusableLogin(Exception):
    """Raised for a login that is stored but must not or cannot be used."""


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens for one server, and what is needed to refresh and revoke them. Its `repr` shows no secret."""

    server: str
    principal: str
    url: str  # the server's address; the tokens are sent nowhere else
    client_id: str
    client_secret: str = ""
    client_auth: str = "none"  # the token endpoint's authentication method for this client
    token_endpoint: str
    revocation_endpoint: str = ""
    resource: str = ""
    access_token: str
    refresh_token: str = ""
    scope: str = ""
    expires_at: float | None = None  # seconds since 1970
    id: str = ""  # of this login, which a refresh keeps

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at - EARLY_SECONDS < time.time()

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.access_token, self.refresh_token, self.client_secret)))

    def __repr__(self) -> str:
        return f"Login({self.server!r}, {self.principal!r}, {self.url!r})"


class LoginFile:
    """Where the login of one principal to one server is stored. Nothing is created until `save`."""

    def __init__(self, data_directory: str | Path, server: str, principal: str = LOCAL) -> None:
        self.server, self.principal = server, principal
        readable = re.sub(r"[^A-Za-z0-9-]", "_", server)[:40]
        digest = hashlib.sha256(f"{server}\0{principal}".encode()).hexdigest()[:32]
        self.path = Path(data_directory).expanduser() / FOLDER / f"{readable}-{digest}.json"

    @property
    def command(self) -> str:
        """The command that creates this login."""
        name = shlex.quote(self.server)
        principal = "" if self.principal == LOCAL else f" --principal {shlex.quote(self.principal)}"
        return f"paddock tools login {name}{principal}"

    def signature(self) -> tuple[int, int, int] | None:
        """A value that changes whenever the login changes; None if there is none."""
        try:
            status = self.path.stat(follow_symlinks=False)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def load(self) -> Login | None:
        """The stored login, or None. Raises UnusableLogin."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError:
            raise UnusableLogin(UNREADABLE) from None
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
                raise UnusableLogin(NOT_PRIVATE)
            try:
                return msgspec.json.decode(file.read(MAX_BYTES), type=Login)
            except (OSError, ValueError, RecursionError):  # the message would quote the file
                raise UnusableLogin(UNREADABLE) from None

    def save(self, login: Login) -> None:
        """Replace the stored login. Raises OSError."""
        self._make_folder()
        temporary = self.path.with_suffix(f".{secrets.token_hex(8)}")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                os.fchmod(fd, 0o600)  # the umask may have taken more away
                file.write(msgspec.json.encode(login))
                file.flush()
                os.fsync(fd)
            temporary.replace(self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def delete(self) -> None:
        """Remove the login, if there is one."""
        self.path.unlink(missing_ok=True)

    async def remove(self) -> None:
        """Remove the login when nobody refreshes it, which would store it again. Raises TimeoutError and OSError."""
        async with self.locked():
            self.delete()

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Lock the login against other processes: most servers accept a refresh token only once.

        Raises TimeoutError if another process keeps the lock, and OSError.
        """
        import fcntl

        self._make_folder()
        fd = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                while True:
                    with suppress(BlockingIOError):
                        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    await asyncio.sleep(POLL_SECONDS)
            yield
        finally:
            os.close(fd)

    def _make_folder(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def logins_of(data_directory: str | Path, principal: str) -> list[LoginFile]:
    """The stored logins of a principal. A file that cannot be read is left out."""
    found = []
    for path in sorted((Path(data_directory).expanduser() / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, RecursionError):
            login = msgspec.json.decode(path.read_bytes(), type=Login)
            file = LoginFile(data_directory, login.server, login.principal)
            if login.principal == principal and file.path == path:
                found.append(file)
    return found
