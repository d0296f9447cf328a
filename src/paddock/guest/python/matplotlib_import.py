"""Lets matplotlib be imported where it can write nothing, with the font cache that the environment was built with.

matplotlib wants a folder for its configuration and its font cache. A zygote has none, and a guest's is empty, where
finding all fonts takes half a second. So a finder in `sys.meta_path` helps with this one import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

SETTINGS = "MATPLOTLIBRC"
_exists = os.path.exists


class Finder:
    """Finds the modules that `changes` names, and runs its function for each after it was imported."""

    def __init__(self, changes: dict[str, Callable[[ModuleType], None]]) -> None:
        self._changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._changes:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            loader: Any = spec.loader
            loader.exec_module = partial(_execute, loader.exec_module, self._changes[name])
        return spec


def install(changes: dict[str, Callable[[ModuleType], None]]) -> None:
    """Called once, in the zygote."""
    sys.meta_path.insert(0, Finder({"matplotlib": _set_folders, **changes}))


def _execute(execute: Callable[[ModuleType], None], change: Callable[[ModuleType], None], module: ModuleType) -> None:
    # With its own default settings named here, matplotlib does not look for the user's settings.
    defaults = f"{(module.__file__ or '').rpartition('/')[0]}/mpl-data/matplotlibrc"
    is_named = SETTINGS in os.environ or not _exists(defaults)
    if not is_named:
        os.environ[SETTINGS] = defaults
    try:
        execute(module)
    finally:
        if not is_named:
            os.environ.pop(SETTINGS, None)
    change(module)


def _set_folders(module: Any) -> None:
    """Point matplotlib to the font cache of the environment, if it has one. It is read-only."""
    folder = f"{sys.prefix}/share/matplotlib"
    if _exists(folder):
        module.get_cachedir = module.get_configdir = lambda: folder
