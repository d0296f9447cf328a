"""How a script ended, on CPython or in Paddock, in a form in which the two can be compared."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.model.result import RunResult

RUNNER = Path(__file__).with_name("reference_runner.py")


@dataclass(frozen=True, slots=True)
class Failure:
    type: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything of a run that a script's author can see."""

    value: str  # as JSON text, in which 1, 1.0 and true differ
    stdout: str
    stderr: str
    error: Failure | None

    def difference(self, other: Outcome) -> str:
        """Each field in which `other` differs, one below the other; empty where none does."""
        lines = []
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                lines += [
                    f"    {name} on CPython: {_around(mine, theirs)}",
                    f"    {name} here: {_around(theirs, mine)}",
                ]
        return "\n".join(lines)


def of_result(result: RunResult) -> Outcome:
    """What Paddock reports of a run, whatever its verdict."""
    error = result.error
    failure = None if error is None else Failure(error.type, error.message, error.line)
    return Outcome(json.dumps(result.output), result.stdout, result.stderr, failure)


class Reference:
    """A CPython that runs one script at a time, each in a fork of its own. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._home = tempfile.TemporaryDirectory()
        self._runner = subprocess.Popen(
            [sys.executable, "-s", "-X", "utf8", str(RUNNER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin", "HOME": self._home.name, "TZ": "UTC"},
            cwd=self._home.name,
        )

    def ask(self, code: str, inputs: Mapping[str, Any] | None = None) -> Outcome:
        """How `code` ends on CPython."""
        assert self._runner.stdin is not None
        assert self._runner.stdout is not None
        with self._lock:
            self._runner.stdin.write(json.dumps({"code": code, "inputs": dict(inputs or {})}) + "\n")
            self._runner.stdin.flush()
            answer = json.loads(self._runner.stdout.readline())
        error = answer["error"] and Failure(**answer["error"])
        return Outcome(json.dumps(answer["value"]), answer["stdout"], answer["stderr"], error)

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._runner.communicate()  # the end of its input is the end of the runner
        self._home.cleanup()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _around(mine: object, theirs: object) -> str:
    """`mine`, cut to where it begins to differ from `theirs`."""
    if not isinstance(mine, str) or not isinstance(theirs, str):
        return repr(mine)
    pairs = zip(mine, theirs, strict=False)
    start = max(0, next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(theirs))) - 60)
    return ("…" if start else "") + repr(mine[start : start + 160])
