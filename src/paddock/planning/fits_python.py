"""Whether a Python script fits the light engine: from its syntax tree alone, and only if it provably does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from paddock.planning.light.analysis import Analysis
from paddock.planning.light.refusal import Refused
from paddock.planning.light.syntax import check
from paddock.planning.python_source import Source


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first thing in a script that the light engine is not known to do as CPython does."""

    what: str
    line: int | None = None

    def __str__(self) -> str:
        return self.what if self.line is None else f"{self.what}, line {self.line}"


@lru_cache(maxsize=256)
def misfit(source: Source, names: frozenset[str]) -> Misfit | None:
    """Why `source`, given the variables and functions `names`, must run on full Python; None where it fits."""
    try:
        check(source.tree)
        Analysis(source.tree, names).run()
    except Refused as refused:
        return Misfit(refused.what, refused.line)
    except RecursionError:
        return Misfit("is nested too deeply")
    return None
