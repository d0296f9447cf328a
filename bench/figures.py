"""Figures that are counted, not timed: a share of something, with what it should be at least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One counted share, between 0 and 1."""

    name: str
    what: str
    share: float
    at_least: float

    @property
    def met(self) -> bool:
        return self.share >= self.at_least

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}

    def __str__(self) -> str:
        met = "yes" if self.met else "NO"
        return f"{self.name}: {self.share:.1%} of {self.what} (target: at least {self.at_least:.0%}; met: {met})"


@dataclass(frozen=True, slots=True)
class Amount:
    """One amount of something, with what it may be at most."""

    name: str
    what: str
    amount: float
    at_most: float

    @property
    def met(self) -> bool:
        return self.amount <= self.at_most

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}

    def __str__(self) -> str:
        if math.isinf(self.at_most):
            return f"{self.name}: {self.amount:.2f} {self.what} (no target)"
        met = "yes" if self.met else "NO"
        return f"{self.name}: {self.amount:.2f} {self.what} (target: at most {self.at_most:g}; met: {met})"


def _waiting_memory() -> Amount:
    from bench.jail_figures import waiting_memory

    return waiting_memory()


def _waiting_memory_of_quickjs() -> Amount:
    from bench.jail_figures import waiting_memory_of_quickjs

    return waiting_memory_of_quickjs()


def _waiting_memory_of_node() -> Amount:
    from bench.jail_figures import waiting_memory_of_node

    return waiting_memory_of_node()


def _growth() -> Amount:
    from bench.jail_figures import growth

    return growth()


def _search() -> Amount:
    from bench.tool_figures import search_time

    return search_time()


def _listed_tokens() -> Amount:
    from bench.server_figures import listed_tokens

    return listed_tokens()


FIGURES: dict[str, Callable[[], Figure | Amount]] = {
    "waiting-memory": _waiting_memory,
    "waiting-memory-quickjs": _waiting_memory_of_quickjs,
    "waiting-memory-node": _waiting_memory_of_node,
    "growth": _growth,
    "search": _search,
    "tools-list": _listed_tokens,
}
"""By the name that `--only` takes; each is counted when it is asked for."""
