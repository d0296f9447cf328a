"""What a tool is, as whoever offers it describes it. Nothing of a description is trusted: an upstream wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Hints:
    """What a tool says of its own effects. None: it does not say."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a script may call."""

    server: str  # the upstream that offers it; empty for a Python function of the program that Paddock is part of
    name: str  # as its server calls it
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: ANY_OBJECT)
    output_schema: Mapping[str, Any] | None = None
    hints: Hints = Hints()
    tags: tuple[str, ...] = ()
    title: str = ""
    added: Mapping[str, bool] = field(default_factory=dict)  # arguments that the host adds; whether the tool needs them

    @property
    def full_name(self) -> str:
        """Its name in the catalogue."""
        return f"{self.server}.{self.name}" if self.server else self.name

    @property
    def id(self) -> str:
        """Six characters that stay the same as long as the tool has its name."""
        from hashlib import sha256  # 2 ms that only who has tools need spend

        return sha256(self.full_name.encode(errors="replace")).hexdigest()[:6]


class OwnTool(Protocol):
    """A tool that whoever runs a script has beside all others, for this run."""

    @property
    def tool(self) -> Tool: ...

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """What it gives for arguments that its schema allows."""
        ...
