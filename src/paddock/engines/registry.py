"""Which engines there are: names to import strings, loaded when first used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.engines.base import Engine

Factory: TypeAlias = "Callable[[Config], Engine] | str"

ENGINES: Mapping[str, str] = {
    "monty": "paddock.engines.monty:MontyEngine",
    "cpython": "paddock.engines.cpython:CPythonEngine",
    "quickjs": "paddock.engines.quickjs:QuickJSEngine",
    "node": "paddock.engines.node:NodeEngine",
}


JAILED = frozenset({"cpython", "quickjs", "node"})
MACHINES = frozenset({"x86_64", "aarch64"})
"""Those for which the jail's filter of system calls is written."""


def available() -> Mapping[str, Factory]:
    """The engines that this system could run, by name."""
    if want_of_jail() is None:
        return ENGINES
    return {name: factory for name, factory in ENGINES.items() if name not in JAILED}


def want_of_jail() -> str | None:
    """Why no jail can be made on this system, whatever is installed or allowed; None where one may be."""
    if sys.platform != "linux":
        return f"the jail is made of Linux kernel features, which {os.uname().sysname} does not have"
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"the jail's filter of system calls is written for {' and '.join(sorted(MACHINES))}, not for {machine}"
    return None


def load(factory: Factory) -> Callable[[Config], Engine]:
    """The engine's class, imported now if it was named by a string."""
    if not isinstance(factory, str):
        return factory
    module, _, name = factory.partition(":")
    return cast("Callable[[Config], Engine]", getattr(import_module(module), name))
