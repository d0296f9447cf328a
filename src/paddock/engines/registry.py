"""The table of engines, and the engines of one Paddock, each loaded and started on first use."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

from paddock.errors import EngineCrashed, JailUnavailable

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.engines.base import Engine

Factory: TypeAlias = "Callable[[Config], Engine] | str"

ENGINES: Mapping[str, str] = {
    "monty": "paddock.engines.monty:MontyEngine",
    "cpython": "paddock.engines.jailed:CPythonEngine",
    "quickjs": "paddock.engines.jailed:QuickJSEngine",
    "node": "paddock.engines.node:NodeEngine",
}
JAILED = frozenset({"cpython", "quickjs", "node"})
MACHINES = frozenset({"x86_64", "aarch64"})
"""Architectures that the jail's seccomp filter is written for."""
RETRY_SECONDS = 60.0
"""How long after a failed start an engine is reported as unavailable without another attempt."""


class Engines:
    """The engines of one Paddock."""

    def __init__(self, config: Config, factories: Mapping[str, Factory] | None = None) -> None:
        self._config = config
        self.factories = available() if factories is None else factories
        self._loaded: dict[str, Engine] = {}
        self._starts: dict[str, asyncio.Task[None]] = {}
        self._refused: dict[str, tuple[float, str]] = {}  # time and reason of a failed start
        self._is_closed = False

    @property
    def is_used(self) -> bool:
        """Whether any engine was loaded."""
        return bool(self._loaded)

    def get(self, name: str) -> Engine:
        """The engine of this name, loaded on first use."""
        if self._is_closed:
            raise EngineCrashed("Paddock was closed before the script began")
        if name not in self._loaded:
            self._loaded[name] = load(self.factories[name])(self._config)
        return self._loaded[name]

    async def why_unavailable(self, name: str) -> str | None:
        """Why this engine cannot run on this host, or None if it can. Starts the engine on first use.

        A start continues if its caller is cancelled, because others may be waiting for it.
        """
        if name not in self.factories:
            return jail_problem()
        refused = self._refused.get(name)
        if refused is not None and time.monotonic() - refused[0] < RETRY_SECONDS:
            return refused[1]
        start = self._starts.get(name)
        if start is None:
            start = self._starts[name] = asyncio.create_task(self.get(name).start())
        try:
            await asyncio.shield(start)
        except JailUnavailable as problem:
            self._refused[name] = (time.monotonic(), str(problem))
            self._starts.pop(name, None)
            return str(problem)
        except Exception:
            self._starts.pop(name, None)  # the next run tries again
            raise
        return None

    async def why_no_network(self) -> str | None:
        """Why guests of full Python cannot have a network on this host, or None if they can."""
        refused = self._refused.get("network")
        if refused is not None and time.monotonic() - refused[0] < RETRY_SECONDS:
            return refused[1]
        try:
            problem = await self.get("cpython").network_problem() if "cpython" in self.factories else jail_problem()
        except JailUnavailable as unavailable:
            problem = str(unavailable)
        if problem is not None:
            self._refused["network"] = (time.monotonic(), problem)
        return problem

    def waiting_guests(self) -> Mapping[tuple[str, str], int]:
        """How many guests wait for a script, by environment and template."""
        waiting = Counter[tuple[str, str]]()
        for engine in self._loaded.values():
            waiting.update(engine.waiting_guests())  # unlike `+`, this keeps zeros
        return waiting

    async def close(self) -> None:
        """Close every engine. A run that has not opened its engine yet fails."""
        self._is_closed = True
        for engine in self._loaded.values():
            await engine.close()
        await asyncio.gather(*self._starts.values(), return_exceptions=True)


def available() -> Mapping[str, Factory]:
    """The engines that this platform supports, by name."""
    if jail_problem() is None:
        return ENGINES
    return {name: factory for name, factory in ENGINES.items() if name not in JAILED}


def jail_problem() -> str | None:
    """Why this platform cannot have a jail, whatever is installed or permitted; None if it can."""
    if sys.platform != "linux":
        return f"the jail needs Linux kernel features, which {os.uname().sysname} does not have"
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"the jail's seccomp filter supports {' and '.join(sorted(MACHINES))}, not {machine}"
    return None


def load(factory: Factory) -> Callable[[Config], Engine]:
    """The function or class that creates the engine. A string `module:name` is imported."""
    if not isinstance(factory, str):
        return factory
    module, _, name = factory.partition(":")
    return cast("Callable[[Config], Engine]", getattr(import_module(module), name))
