"""An environment: packages and preloads that guests start from, and what it is once built.

Where it is built follows from what it holds: `key` is a hash of packages, preload and interpreter, so two names with
one content share one build, and a changed table is another build beside the old one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import UnknownEnvironment
from paddock.model.words import nearest

if TYPE_CHECKING:
    from paddock.config import Config

FORMAT = 2
"""Part of every key: raised when a build of an earlier Paddock must not be used by this one."""


@dataclass(frozen=True)
class Environment:
    """What is to be installed, and what is to be imported before a guest's first line."""

    name: str
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """24 hexadecimal digits for the content; the name is no part of it, nor is the order of packages."""
        content = {
            "format": FORMAT,
            "packages": sorted(set(self.packages)),
            "preload": self.preload,  # in order: one module may have to be imported before another
            "python": [sys.implementation.name, *sys.version_info[:3], sysconfig.get_config_var("SOABI")],
            "platform": sysconfig.get_platform(),
            "prefix": os.path.realpath(sys.base_prefix),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def path(self, data_directory: str | Path) -> Path:
        """Where this content is, or will be, built."""
        return builds(data_directory) / self.key


def configured(config: Config, name: str) -> Environment:
    """The environment that the configuration has under `name`."""
    table = config.environments.get(name)
    if table is None:
        raise unknown(name, config.environments)
    return Environment(name, table.packages, table.preload)


def unknown(name: str, known: Iterable[str]) -> UnknownEnvironment:
    """The error for a name that is none of `known`."""
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(sorted(known))}"
    return UnknownEnvironment(f"there is no environment {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build, as its manifest describes it. It is never written to again."""

    key: str
    path: str
    packages: tuple[str, ...]
    preload: tuple[str, ...]
    executable: str
    """The build's own `bin/python`, a link: what a guest is started with, so that it finds the packages."""
    python: str
    """The interpreter that the link stands for."""
    site_packages: str
    reads: tuple[str, ...]
    """Every directory that a guest must be able to read: the build, the standard library, the interpreter's, and
    those of every shared library that the interpreter, its extension modules and the preloads load. Real paths, none
    inside another. Those of the system (`/usr/lib/…`) are among them."""
    installed: dict[str, str] = field(default_factory=dict)
    """Version by package, dependencies included."""
    size_bytes: int = 0
    warm_modules: frozenset[str] = frozenset()
    """Top-level modules that want a warm guest: the preloads, and those of distributions that depend on a preload."""


def builds(data_directory: str | Path) -> Path:
    """The directory of all builds."""
    return Path(data_directory).expanduser().absolute() / "environments" / "builds"
