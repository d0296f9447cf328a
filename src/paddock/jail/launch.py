"""The commands that processes of the jail are started with."""

from __future__ import annotations

import sys
from pathlib import Path

START = Path(__file__).with_name("start.py")
# As the host does: one that may not keep bytecode compiles its modules anew in each process.
_BYTECODE = ("-B",) if sys.dont_write_bytecode else ()


def command(role: str, *arguments: str) -> list[str]:
    """A process beside the host, in the host's own interpreter, with the standard library and Paddock alone."""
    return [sys.executable, "-I", "-S", *_BYTECODE, str(START), role, *arguments]


def warden_command(python: str, control: int) -> list[str]:
    """A warden, in the interpreter of an environment, which finds the packages of that environment."""
    return [python, "-s", "-P", *_BYTECODE, "-X", "utf8", str(START), "warden", str(control)]
