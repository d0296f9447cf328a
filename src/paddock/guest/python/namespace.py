"""The script's `__main__` module: its namespace, inputs, tools and imports."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import importlib
import json
import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from paddock.guest.python import limits, notices
from paddock.guest.python.display import display
from paddock.guest.python.errors import FILE_NAME
from paddock.guest.python.functions import Functions, link_tools
from paddock.guest.python.job import Job

_decode = json.JSONDecoder().decode
STANDARD = {"asyncio": asyncio, "json": json, "Path": Path}
"""Scripts need no import for these, because the descriptions of the code tools use them."""


def main_module() -> dict[str, Any]:
    """The namespace of a new, empty `__main__`."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    names = module.__dict__
    names["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    return names


def set_file_and_path(names: dict[str, Any]) -> str:
    """Set `__file__`, and make the working directory the last entry of `sys.path`. Returns that directory.

    It is the last one, so that an attached file named `json.py` hides no module.
    """
    here = os.getcwd()  # noqa: PTH109
    names["__file__"] = f"{here.rstrip('/')}/{FILE_NAME}"
    sys.path[:] = [*[entry for entry in sys.path if entry not in ("", here)], here]
    return here


def add_packages(folder: str, *, first: bool) -> None:
    """Put a folder of packages on the path, and run its `.pth` files, as the interpreter does at its start.

    PYTHONPATH is for programs that the script starts, such as `sys.executable -m pytest`.
    """
    import site

    before = list(sys.path)
    site.addsitedir(folder)
    earlier = os.environ.get("PYTHONPATH")  # another run of the session has asked for others
    os.environ["PYTHONPATH"] = f"{folder}:{earlier}" if earlier else folder
    if first:
        sys.path[:] = [*(entry for entry in sys.path if entry not in before), *before]


def fill(names: dict[str, Any], job: Job, functions: Functions) -> None:
    """Define the script's inputs, files, functions and arguments.

    In script mode, tools and `files` are defined only if the run has any.
    """
    tools, files = job.start.get("tools") or [], job.start.get("files") or []
    if not job.is_script:
        names |= STANDARD
        names["display"] = display
    if tools or not job.is_script:
        names |= link_tools(functions, tools) | functions
    if files or not job.is_script:
        names["files"] = files
    set_inputs(names, job)
    sys.argv = [FILE_NAME, *(job.start.get("argv") or ())]


def set_inputs(names: dict[str, Any], job: Job) -> None:
    """Define the script's inputs."""
    if job.inputs:
        limits.allow_recursion(limits.DECODE_RECURSION)
    for name, text in job.inputs.items():
        names[name] = _decode(text)


def renew(names: dict[str, Any], placed: dict[str, Any], offered: Mapping[str, Any]) -> None:
    """Define `offered` for the next run of a session, except where the script has used a name for something else.

    `placed` is what the runtime has defined so far: what is no longer offered is removed.
    """
    for name in [name for name in placed if name not in offered]:
        if names.get(name) is placed.pop(name):
            del names[name]
    for name, value in offered.items():
        if name not in names or (name in placed and names[name] is placed[name]):
            names[name] = placed[name] = value


def warn_of_hidden(inputs: Iterable[str], names: Mapping[str, Any]) -> None:
    """Warn of inputs that the script has hidden with an import or a definition of their name."""
    for name in inputs:
        if isinstance(names.get(name), ModuleType | FunctionType | BuiltinFunctionType | type):
            notices.warn(f"The input `{name}` is hidden by an import or a definition of that name: rename one of them.")


def reseed() -> None:
    """Reseed every random number generator: a forked process inherits its parent's state."""
    random.seed()
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        numpy_random.seed(int.from_bytes(os.urandom(4), "big"))


def replace_import(refused: Sequence[str], recursion: int | None) -> None:
    """Make the script's own imports of `refused` modules fail as if they were not installed.

    This helps the author of the script. It is not a security boundary: libraries may still import these modules. If the
    run's recursion limit is low, imports use the interpreter's default, because loading a library nests deeply.
    """
    is_low = recursion is not None and recursion < limits.DEFAULT_RECURSION
    if not refused and not is_low:
        return
    names, min_recursion = frozenset(refused), limits.DEFAULT_RECURSION + (recursion or 0) if is_low else 0
    real_import, real_import_module = builtins.__import__, importlib.import_module

    def script_import(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 (the signature of __import__)
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level == 0 and _is_script(globals):
            _check(name, fromlist or (), names)
        with _recursion_limit(min_recursion):
            return real_import(name, globals, locals, fromlist or (), level)

    def import_module(name: str, package: str | None = None) -> ModuleType:
        if _is_script(None):
            _check(name, (), names)
        with _recursion_limit(min_recursion):
            return real_import_module(name, package)

    builtins.__import__ = script_import
    importlib.import_module = import_module


@contextlib.contextmanager
def _recursion_limit(minimum: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, minimum))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _is_script(names: Mapping[str, object] | None) -> bool:
    """Whether the code that imports, whose globals are `names`, is the script itself."""
    if names is None:
        names = sys._getframe(2).f_globals  # noqa: SLF001 (the caller of __import__ or import_module)
    return names.get("__name__") == "__main__"


def _check(name: str, fromlist: Sequence[str], refused: frozenset[str]) -> None:
    """Raise ModuleNotFoundError if an import names a refused module or a module inside one."""
    wanted = [name, *(f"{name}.{part}" for part in fromlist)]
    for path in wanted:
        parts = path.split(".")
        for count in range(1, len(parts) + 1):
            if (prefix := ".".join(parts[:count])) in refused:
                raise ModuleNotFoundError(f"No module named {prefix!r}", name=prefix)
