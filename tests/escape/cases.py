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
FIELDS = frozenset({"expect", "limits", "stdout", "output", "error", "says", "signal", "machine", "why"})
_LINE = re.compile(r"# (?P<name>\w+)(?: (?P<profile>\w+))?:(?: (?P<value>.*))?")


@dataclass(frozen=True)
class Case:
    """One program and what it must come to in one profile."""

    name: str
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
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def read(name: str, profile: str) -> Case:
    code = (PROGRAMS / f"{name}.py").read_text()
    said = _header(code, profile)
    verdicts = dict(part.split("=") for part in said["expect"][0].split("; "))
    limits = dict(part.split("=") for part in " ".join(said.get("limits", [])).split())
    signal = said.get("signal")
    return Case(
        name,
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


def _header(code: str, profile: str) -> dict[str, list[str]]:
    for_all: dict[str, list[str]] = {}
    for_profile: dict[str, list[str]] = {}
    for line in code.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            break
        if found["profile"] in (None, profile):
            kept = for_profile if found["profile"] else for_all
            assert found["name"] in FIELDS, line
            kept.setdefault(found["name"], []).append(found["value"] or "")
    return for_all | for_profile


def _text(value: str) -> str:
    return str(ast.literal_eval(value)) if value.startswith(("'", '"')) else f"{value}\n"


def _first(values: list[str] | None) -> str | None:
    return values[0] if values else None
