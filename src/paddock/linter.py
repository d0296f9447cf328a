"""Finds mistakes in a script without running it: Ruff and Python's own compiler, each in a jailed process.

Only rules that point at a likely bug are enabled; a program also gets some of Ruff's default rules about style. Scripts
may use `return` and `await` at the top level and end with an expression that is their value, so these are not reported.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, cast

import msgspec

from paddock.errors import CodeTooLarge, LintUnavailable, RequestError
from paddock.jail.entry_point import command
from paddock.model.limits import format_bytes
from paddock.model.request import MODES
from paddock.planning.plan import BRIDGE_NAMES, DISPLAY, STANDARD_NAMES

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

CODE_BYTES = 1024 * 1024
NAMES_CHARACTERS = 64 * 1024
LINT_SECONDS = 30.0
LINT_THREADS = 2
REPORT_BYTES = 4 * 1024 * 1024
MEMORY_BYTES = 2 * 1024**3
"""The memory limit of each process. Ruff needs a thousand times the size of a source that is full of mistakes."""
FINDINGS = 1000
NEWEST_MINOR = 15
"""Ruff knows no later Python 3."""

_BUGBEAR = (
    "B002 B003 B004 B005 B006 B008 B012 B015 B016 B018 B020 B021 B022 B023 B025 B026 B029 B030 B031 B032 B033 B035 B039"
)
_PYLINT = "PLE PLW0127 PLW0129 PLW0133 PLW0177 PLW0245 PLW0711 PLW1501 PLW2101"
_RUFF = "RUF006 RUF008 RUF009 RUF016 RUF018 RUF024 RUF026 RUF030 RUF032 RUF034"
RULES = ("E9", "F", *_BUGBEAR.split(), *_PYLINT.split(), "ASYNC100", "ASYNC210", "ASYNC251", *_RUFF.split())
PROGRAM_RULES = (*RULES, "E4", "E7")
"""Programs (mode `script`) are also checked with the style rules that Ruff enables by default."""
PROGRAM_IGNORED = ("F704", "F706", "PLE1142")
"""`return` and `await` outside a function: allowed at a script's top level; the compiler reports other cases."""
IGNORED = ("F403", "F405", *PROGRAM_IGNORED)
INVALID = "invalid-syntax"
_VALUE_RULES = ("B015", "B018")  # an expression without effect: as the last statement it is the script's result


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One likely mistake. Line and column count from 1; the code is Ruff's, or `invalid-syntax`."""

    code: str
    message: str
    line: int
    column: int

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values, with the keys that the JSON output uses."""
        return {"code": self.code, "message": self.message, "location": {"line": self.line, "column": self.column}}


def lint(
    code: str,
    *,
    names: Collection[str] = (),
    mode: str = "expression",
    python: tuple[int, int] = sys.version_info[:2],
) -> list[Finding]:
    """The likely mistakes in `code`, ordered by position, at most 1000. `names` are its inputs and tools.

    In mode `script` the code is a program: it returns no value, and Ruff's default rules apply as well. `python` is the
    version that it is for; the compiler checks it only if that is this one.
    Takes about 0.1 s, at most a minute. Raises `LintUnavailable` if Ruff cannot be used.
    """
    _check(code, names)
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, not {str(mode)[:100]!r}")
    try:
        code.encode()
    except UnicodeEncodeError:
        return [Finding(INVALID, "the code contains a lone surrogate, which has no UTF-8 encoding", 1, 1)]
    is_program = mode == "script"
    target = f"--target-version=py3{min(python[1], NEWEST_MINOR)}"
    lines = _ruff(code, [target, *_rule_options(names, is_program=is_program)])
    if lines is None:
        return [Finding(INVALID, "the source could not be checked: it is too large or nested too deeply", 1, 1)]
    last = _last_line(code)
    reports = [_decode(line, _Report) for line in lines]
    findings = [report.finding() for report in reports if is_program or not report.is_value(last)]
    if python == sys.version_info[:2] and not any(finding.code == INVALID for finding in findings):
        findings += _syntax_error(code, mode)
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.code))[:FINDINGS]


def _check(code: str, names: Collection[str]) -> None:
    if not isinstance(code, str):
        raise RequestError(f"code must be text, not {type(code).__name__}")
    if len(code) > CODE_BYTES or len(code.encode(errors="replace")) > CODE_BYTES:
        raise CodeTooLarge(f"the code is larger than {format_bytes(CODE_BYTES)}; lint it in parts")
    is_list = isinstance(names, Collection) and not isinstance(names, str)
    if not is_list or not all(isinstance(name, str) for name in names):
        raise RequestError(f"names must be a list of names such as ['prices'], not {repr(names)[:100]}")
    if sum(map(len, names)) > NAMES_CHARACTERS:  # they are an argument of Ruff's process
        raise RequestError(f"names has more than {NAMES_CHARACTERS} characters in total")


async def alint(
    code: str,
    *,
    names: Collection[str] = (),
    mode: str = "expression",
    python: tuple[int, int] = sys.version_info[:2],
) -> list[Finding]:
    """`lint` in a thread, for use in an event loop. Several at once wait for each other."""
    import asyncio

    work = partial(lint, code, names=names, mode=mode, python=python)
    return await asyncio.get_running_loop().run_in_executor(_threads(), work)


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads for lint alone: Ruff may take a minute, and asyncio's own threads serve everybody."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(LINT_THREADS, "paddock-lint")


def ruff_binary() -> str:
    """The path of Ruff: next to this Python, else on the PATH."""
    import shutil

    try:
        from ruff import find_ruff_bin  # type: ignore[import-untyped]

        return str(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        path = shutil.which("ruff")
    if path is None:
        raise LintUnavailable("lint needs Ruff, which is not installed here: pip install ruff")
    return path


class _Position(msgspec.Struct):
    row: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    column: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class _Report(msgspec.Struct):
    """What Ruff reports about one mistake."""

    code: str | None
    message: str
    location: _Position
    end_location: _Position

    def finding(self) -> Finding:
        return Finding(self.code or INVALID, self.message, self.location.row, self.location.column)

    def is_value(self, last: tuple[int, str]) -> bool:
        """Whether this is a "useless expression" that is the script's value: nothing but comments follows it."""
        if self.code not in _VALUE_RULES or self.location.column != 1:
            return False
        row, column = self.end_location.row, self.end_location.column
        return row > last[0] or (row == last[0] and _is_blank(last[1][column - 1 :].lstrip("; \t")))


class _CompilerReport(msgspec.Struct):
    """What the compiler reports: a syntax error, or nothing."""

    message: str | None = None
    line: Annotated[int, msgspec.Meta(ge=-1, lt=2**31)] | None = None
    column: Annotated[int, msgspec.Meta(ge=-1, lt=2**31)] | None = None


_Kind = TypeVar("_Kind")


def _decode(report: bytes, kind: type[_Kind]) -> _Kind:
    """Decode a report. It is untrusted, because its process has read the source."""
    try:
        return msgspec.json.decode(report, type=kind)
    except (ValueError, RecursionError):
        raise LintUnavailable("the process that checked the code reported something unreadable") from None


def _last_line(code: str) -> tuple[int, str]:
    """The number and text of the last line that is neither blank nor a comment."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number = next((row for row in range(len(lines), 0, -1) if not _is_blank(lines[row - 1])), 0)
    return number, lines[number - 1]


def _is_blank(text: str) -> bool:
    return not text.strip() or text.lstrip().startswith("#")


def _rule_options(names: Collection[str], *, is_program: bool) -> list[str]:
    """Ruff's command-line options that select rules and declare names."""
    predefined = () if is_program else ("files", DISPLAY, *BRIDGE_NAMES, *STANDARD_NAMES)
    defined = sorted({*predefined, *(name for name in names if name.isidentifier())})
    selected, ignored = (PROGRAM_RULES, PROGRAM_IGNORED) if is_program else (RULES, IGNORED)
    return [
        *("--select", ",".join(selected), "--ignore", ",".join(ignored)),
        *("--config", f"builtins = {json.dumps(defined, ensure_ascii=False)}"),
    ]


def _ruff(code: str, rules: list[str]) -> list[bytes] | None:
    """The lines of Ruff's report, each a JSON object, up to `REPORT_BYTES`; None if the source made Ruff crash."""
    options = "--isolated --no-cache --quiet --output-format json-lines --stdin-filename main.py"
    arguments = ["exec_jailed", ruff_binary(), "check", *options.split(), *rules, "-"]
    status, report = _run_jailed(arguments, code)
    if len(report) > REPORT_BYTES:
        return report.splitlines()[:-1]
    if -status in (signal.SIGSEGV, signal.SIGABRT):
        return None
    if status not in (0, 1) or not all(line.startswith(b"{") for line in report.splitlines()):
        raise LintUnavailable(_failure(status, report[:1000].decode(errors="replace").strip()))
    return report.splitlines()


def _syntax_error(code: str, mode: str) -> list[Finding]:
    """Syntax errors that Python's compiler reports and Ruff does not."""
    status, report = _run_jailed(["compile", mode], code)
    if status != 0:
        return [Finding(INVALID, "the source could not be compiled: it is too large or nested too deeply", 1, 1)]
    error = _decode(report, _CompilerReport)
    if error.message is None:
        return []
    return [Finding(INVALID, error.message, max(1, error.line or 1), max(1, error.column or 1))]


def _run_jailed(arguments: list[str], code: str) -> tuple[int, bytes]:
    """Exit status and output of a jailed process that reads untrusted source, killed after `LINT_SECONDS`.

    At most one byte more than `REPORT_BYTES` of its output is read.
    """
    process = _start(arguments)
    timer = threading.Timer(LINT_SECONDS, process.kill)
    timer.daemon = True  # so that an interrupted process does not wait for the timer
    try:
        timer.start()
        # Ruff and the compiler read all of their input before they write, so there is no deadlock.
        with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as source:
            source.write(code.encode())  # a broken pipe means that the process ended early; its output says why
        with cast(IO[bytes], process.stdout) as report:
            output = report.read(REPORT_BYTES + 1)
        if len(output) > REPORT_BYTES:
            process.kill()
        return process.wait(), output
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def _start(arguments: list[str]) -> subprocess.Popen[bytes]:
    argv = command(*arguments)
    if sys.platform == "linux":
        argv = ["/bin/sh", "-c", f'ulimit -d {MEMORY_BYTES // 1024}; exec "$@"', "sh", *argv]
    elif arguments[0] == "exec_jailed":
        argv = arguments[1:]
    env = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    try:
        # One pipe for both streams: stderr matters only after a failure.
        return subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd="/"
        )
    except OSError as problem:
        raise LintUnavailable(
            f"a process for lint could not be started ({problem}): this machine or this process has reached a limit"
        ) from None


def _failure(status: int, output: str) -> str:
    if status == -9:
        return f"Ruff did not finish within {LINT_SECONDS:.0f} s; lint the code in parts"
    return f"Ruff failed (status {status}): {output or 'it printed nothing'}"
