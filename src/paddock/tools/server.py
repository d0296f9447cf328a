"""One MCP server as it was configured: how to reach it, and which of its texts are credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from paddock.tools.credentials import MARK, redact

Transport = Literal["stdio", "http", "sse"]


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """One MCP server and how to reach it. Its text form shows no credential."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    opening_headers: Mapping[str, str] = field(default_factory=dict)  # of what is no call: those bring their own
    keeps_cookies: bool = True  # not where calls are made for one or another, by their headers
    or_sse: bool = False  # the address may be of the older transport: nothing says which
    connect_seconds: float = 30.0
    timeout_seconds: float = 60.0  # of a call, where whoever calls does not say
    concurrency: int = 16
    calls_per_minute: int | None = None  # None: as many as come
    answer_bytes: int = 16 * 1024 * 1024
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()  # every form of each credential, the longest first

    @property
    def place(self) -> str:
        """Where it is, to show to people: the command, or the address without what may be secret in it."""
        if self.transport == "stdio":
            return redact(" ".join((self.command, *self.args)), self.secrets)
        parts = urlsplit(self.url)
        query = "?…" if parts.query else ""
        return redact(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}", self.secrets)

    def __repr__(self) -> str:
        shown = dict.fromkeys((*self.env, *self.headers, *self.opening_headers), MARK)
        return f"Server({self.name!r}, {self.transport!r}, {self.place!r}, {shown})"
