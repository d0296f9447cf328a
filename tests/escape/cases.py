"""Hostile programs, each a file whose first lines say what it must come to.

    # expect: namespaces=timeout; chroot=timeout; confined=raised     the verdict in each profile
    # limits: wall_seconds=1 memory_bytes=67108864
    # stdout: a line that is printed; one such line for each, and none more
    # stdout confined: the same in one profile, instead of what holds for the others
    # why confined: the reason for it, in words; where anything differs there, one is needed
    # output: the result, as JSON
    # error: the type of the error
    # says: a part of the error's message
    # signal: 9
    # machine: x86_64     only there

In JavaScript such lines begin with `//`. A program runs on both engines, unless it says

    // engines: node
    // stdout quickjs: as for a profile, for one engine

Where the kernel decides between two safe endings, the verdicts are joined: `ok|out_of_memory`. A value in quotes is
a Python literal. Without `stdout` or `output` anything may be printed or returned, but `HOLE`: a program prints that
when it has done what it must not be able to do. Every name that it gives to a thing contains `paddock-escape`. As
variables it finds PROFILE, SYSCALLS (numbers by name), HOST_PID, HOST_PATHS and HOST_SOCKETS.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
FIELDS = frozenset({"engines", "expect", "limits", "stdout", "output", "error", "says", "signal", "machine", "why"})
CORE = frozenset(
    {
        *range(3, 7),  # trees of processes
        *(13, 15, 16),  # their memory and number
        *range(22, 35),  # files
        *range(43, 59),  # the kernel's surface, the network
        *(91, 92, 202, *range(204, 207), *range(218, 234), *range(238, 242)),  # more of these
        *(*range(251, 255), *range(257, 261), 263, 267, 271, 273),
    }
)
"""Numbers of the programs that the core suite runs in every profile, not in `namespaces` alone."""
_LINE = re.compile(r"(?:#|//) (?P<name>\w+)(?: (?P<where>\w+))?:(?: (?P<value>.*))?")


@dataclass(frozen=True)
class Case:
    """One program and what it must come to in one profile."""

    name: str
    engine: str
    code: str
    verdict: str
    limits: dict[str, float]
    stdout: str | None
    output: str | None
    error: str | None
    says: str
    signal: int | None
    machine: str | None
    why: str | None


def names() -> list[str]:
    """Of the cases: a program's own, and for JavaScript the engine's after it."""
    found = [path.stem for path in PROGRAMS.glob("*.py")]
    for path in PROGRAMS.glob("*.js"):
        said = _header(path.read_text())
        found += [f"{path.stem}.{engine}" for engine in " ".join(said.get("engines", ["quickjs node"])).split()]
    return sorted(found)


def is_core(name: str) -> bool:
    return int(name.partition("_")[0]) in CORE


def read(name: str, profile: str) -> Case:
    stem, _, engine = name.partition(".")
    code = (PROGRAMS / (f"{stem}.js" if engine else f"{stem}.py")).read_text()
    said = _header(code) | _header(code, engine or "cpython") | _header(code, profile)
    verdicts = dict(part.split("=") for part in said["expect"][0].split("; "))
    limits = dict(part.split("=") for part in " ".join(said.get("limits", [])).split())
    signal = said.get("signal")
    return Case(
        name,
        engine or "cpython",
        code,
        verdicts[profile],
        {"wall_seconds": 20, **{name: float(value) for name, value in limits.items()}},
        "".join(_text(line) for line in said["stdout"]) if "stdout" in said else None,
        _first(said.get("output")),
        _first(said.get("error")),
        _first(said.get("says")) or "",
        None if signal is None else int(signal[0]),
        _first(said.get("machine")),
        _first(said.get("why")),
    )


def _header(code: str, where: str | None = None) -> dict[str, list[str]]:
    """What a program says of all, or of one profile or engine."""
    said: dict[str, list[str]] = {}
    for line in code.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            break
        assert found["name"] in FIELDS, line
        if found["where"] == where:
            said.setdefault(found["name"], []).append(found["value"] or "")
    return said


def _text(value: str) -> str:
    return str(ast.literal_eval(value)) if value.startswith(("'", '"')) else f"{value}\n"


def _first(values: list[str] | None) -> str | None:
    return values[0] if values else None
