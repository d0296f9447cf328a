"""What is said of stored artifacts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeAlias

from paddock.errors import BadArtifact
from paddock.model.artifacts import Artifact

Content: TypeAlias = bytes | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Part:
    """An object, as a part of an artifact."""

    key: str
    size: int


@dataclass(frozen=True, slots=True)
class Kept:
    """An artifact that was found, with the objects that held its bytes then. They stay readable for a while."""

    artifact: Artifact
    session: str | None
    run_id: str | None
    created_at: float
    expires_at: float | None
    parts: tuple[Part, ...] = ()
    """Empty in a list."""

    @property
    def version(self) -> tuple[str, ...]:
        """Two with the same version have the same bytes."""
        return tuple(part.key for part in self.parts)


@dataclass(frozen=True, slots=True)
class Room:
    """What one principal may keep; 0 means without a limit."""

    artifact_bytes: int
    principal_bytes: int
    principal_count: int

    def check_size(self, size: int) -> None:
        """Refuse an artifact that is larger than any may be."""
        if self.artifact_bytes and size > self.artifact_bytes:
            raise BadArtifact(f"an artifact may have {self.artifact_bytes} bytes, and this one has more; make several")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which artifacts are listed. Patterns have `*` and `?`, and do not tell capitals from small letters."""

    session_only: bool = False
    filename: str = ""
    mime_type: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Some artifacts, the newest first, and from where the next ones are had; None where there are none."""

    kept: tuple[Kept, ...]
    cursor: str | None
