"""Whether a Python script fits the light engine."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.planning.python_source import Source


@dataclass(frozen=True, slots=True)
class Misfit:
    what: str
    line: int | None = None

    def __str__(self) -> str:
        return self.what if self.line is None else f"{self.what}, line {self.line}"


def misfit(source: Source, names: frozenset[str]) -> Misfit | None:
    return None
