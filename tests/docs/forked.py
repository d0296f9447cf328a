"""`paddock` as a command of a shell, forked from a process that has imported what it imports."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tests.forks import fork

PADDOCK = '#!/bin/sh\nexec {forked} -m paddock "$@"\n'
PADDOCK_MCP = '#!/bin/sh\nexec {forked} -m paddock mcp "$@"\n'
UVX = '#!/bin/sh\nexec "$@"\n'
"""Runs the command that is named, as uvx does once its package is installed."""
PYTHON = '#!/bin/sh\n[ -f "$1" ] && exec {forked} "$@"\nexec {real} "$@"\n'
"""A program that is a file is forked too."""


def path_with_paddock(folder: Path) -> str:
    """A PATH where `paddock` is this tree's, and `python` the one that this runs on."""
    place = folder / "bin"
    place.mkdir()
    for name, text in (("paddock", PADDOCK), ("paddock-mcp", PADDOCK_MCP), ("uvx", UVX), ("python", PYTHON)):
        (place / name).write_text(text.format(forked=shlex.join(fork.command()), real=shlex.quote(sys.executable)))
        (place / name).chmod(0o755)
    return f"{place}{os.pathsep}{os.environ['PATH']}"
