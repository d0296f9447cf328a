"""Why a script does not fit the light engine of its language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first thing in a script that the light engine lacks, or is not known to do as the full one does."""

    what: str
    line: int | None = None

    def __str__(self) -> str:
        return self.what if self.line is None else f"{self.what}, line {self.line}"
