"""What a session of Monty is fed before a script: the functions by which it reaches its tools, exact builtins."""

from __future__ import annotations

import ast
import re
import secrets
import sys
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from paddock.planning.plan import BRIDGE_NAMES
from paddock.planning.python_source import Source

SECRET = secrets.token_hex(8)
"""Part of the names through which the bridge reaches the host. A script that called them itself could send objects,
which can be exponentially larger outside than inside; it cannot list names, and does not know this one."""
EXACT = ("round", "sum") if sys.version_info >= (3, 12) else ("round",)
"""Builtins that are replaced inside, where the running Python computes what Monty's own does not."""
_TO_HOST = re.compile(r"__paddock_(call|progress|artifact)\(")
_AWAITED = re.compile(r"await (?=__paddock_)")


class Prelude(NamedTuple):
    """Code that goes before a script."""

    text: str = ""
    is_common: bool = True
    """It defines only what every script that uses the names would find under them. Another script does not see it."""


def prelude(source: Source, tools: tuple[str, ...]) -> Prelude:
    """What `source` needs, and no more: each function that is defined takes longer than a script of one line."""
    used = source.notes.get("names")
    if used is None:
        used = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
        source.notes["names"] = used
    linked = tuple(sorted(used.intersection(tools).difference(BRIDGE_NAMES)))
    bridges = tuple(sorted(used.intersection(BRIDGE_NAMES)))
    exact = tuple(name for name in EXACT if name in used)
    return _prelude(bridges, linked, exact, "strptime" in source.code, may_overlap(source))


def may_overlap(source: Source) -> bool:
    """Whether calls may be under way at once. Where not, a guest goes on only with the answer, and needs no future."""
    return "asyncio" in source.code


def guest(name: str) -> str:
    """One of our files that run inside."""
    return (resources.files("paddock.guest") / name).read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _prelude(
    bridges: tuple[str, ...], linked: tuple[str, ...], exact: tuple[str, ...], has_stamps: bool, overlaps: bool
) -> Prelude:
    parts = [guest("monty_tools.py")] if linked or "call_tool" in bridges else []
    parts += [guest("monty_progress.py")] if "report_progress" in bridges else []
    parts += [guest("monty_artifacts.py")] if {"create_artifact", "read_artifact"}.intersection(bridges) else []
    parts += [f"async def {name}(payload=None):\n    return await call_tool({name!r}, payload)\n" for name in linked]
    parts += [guest(f"monty_{name}.py") for name in exact]
    parts += [guest("monty_strptime.py")] if has_stamps else []
    text = "\n".join(parts)
    text = _TO_HOST.sub(rf"__paddock_\1_{SECRET}(", text if overlaps else _AWAITED.sub("", text))
    return Prelude(text, not linked)
