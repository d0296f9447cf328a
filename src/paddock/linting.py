"""Find mistakes in a script without running it: Ruff over stdin, and the compile check that every run begins with.

Only rules that point at a likely bug are on; none is about style. Top-level `return` and `await`, and a last
expression without an effect, are part of the contract of a script and are no findings.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import IO, Any

from paddock.errors import CodeTooLarge, LintUnavailable, RequestError
from paddock.model.request import MODES
from paddock.planning.plan import BRIDGE_NAMES
from paddock.planning.python_source import Source, SourceProblem, program_problem, read

CODE_BYTES = 1024 * 1024
LINT_SECONDS = 30.0
REPORT_BYTES = 4 * 1024 * 1024
FINDINGS = 1000

_BUGBEAR = (
    "B002 B003 B004 B005 B006 B008 B012 B015 B016 B018 B020 B021 B022 B023 B025 B026 B029 B030 B031 B032 B033 B035 B039"
)
_PYLINT = "PLE PLW0127 PLW0129 PLW0133 PLW0177 PLW0245 PLW0711 PLW1501 PLW2101"
_RUFF = "RUF006 RUF008 RUF009 RUF016 RUF018 RUF024 RUF026 RUF030 RUF032 RUF034"
SELECTED = ("E9", "F", *_BUGBEAR.split(), *_PYLINT.split(), "ASYNC100", "ASYNC210", "ASYNC251", *_RUFF.split())
SELECTED_OF_PROGRAMS = (*SELECTED, "E4", "E7")
"""With what Ruff checked by default for years: whoever lints a program is used to it."""
# F403 and F405 are about taste. What the others find where it is wrong, the compile check finds too; at the top level,
# where a script may do it, they would be noise.
IGNORED_OF_PROGRAMS = ("F704", "F706", "PLE1142")
IGNORED = ("F403", "F405", *IGNORED_OF_PROGRAMS)
_VALUE_RULES = ("B015", "B018")  # an expression without effect: as the last statement it is the script's result


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One likely mistake. Line and column count from 1; the code is Ruff's, or `invalid-syntax`."""

    code: str
    message: str
    line: int
    column: int

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values, keyed as in the JSON that every other face shows."""
        return {"code": self.code, "message": self.message, "location": {"line": self.line, "column": self.column}}


def lint(code: str, *, names: Collection[str] = (), mode: str = "expression") -> list[Finding]:
    """The likely mistakes in `code`, first line first, at most a thousand. `names` are its inputs and tools.

    In mode `script` it is a program: it returns no value, and what Ruff used to check by default is found as well.
    Takes about 10 ms and never longer than 30 s; raises `LintUnavailable` where Ruff cannot be used.
    """
    _check(code, names)
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    is_program = mode == "script"
    source = read(code)
    if is_program and isinstance(source, Source):
        source = program_problem(source) or source
    if isinstance(source, SourceProblem) and source.line is None:
        return [Finding("invalid-syntax", source.message, 1, 1)]  # no encoding, or nested too deeply for any parser
    findings = [_finding(line) for line in _ruff(code, _rules(names, is_program=is_program))]
    if isinstance(source, SourceProblem):
        findings += _unreported(source, findings)
    elif not is_program:
        findings = [finding for finding in findings if not _is_result(finding, source)]
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.code))[:FINDINGS]


def _check(code: str, names: Collection[str]) -> None:
    if not isinstance(code, str):
        raise RequestError(f"code must be text, not {type(code).__name__}")
    if len(code) > CODE_BYTES or len(code.encode(errors="replace")) > CODE_BYTES:
        raise CodeTooLarge(f"the code is larger than {CODE_BYTES} bytes; lint it in parts")
    listed = isinstance(names, Collection) and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        raise RequestError(f"names must be a list of names such as ['prices'], not {names!r}")


async def alint(code: str, *, names: Collection[str] = (), mode: str = "expression") -> list[Finding]:
    """`lint` in a thread, so that the event loop goes on meanwhile."""
    import asyncio

    return await asyncio.to_thread(lint, code, names=names, mode=mode)


def ruff_binary() -> str:
    """Where Ruff is: beside this Python, else on the PATH."""
    import shutil

    try:
        from ruff import find_ruff_bin  # type: ignore[import-untyped]

        return str(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("ruff")
    if found is None:
        raise LintUnavailable("lint needs Ruff, which is not installed here: pip install ruff")
    return found


def _finding(line: bytes) -> Finding:
    report = json.loads(line)
    place = report["location"]
    return Finding(report["code"] or "invalid-syntax", report["message"], place["row"], place["column"])


def _unreported(problem: SourceProblem, findings: list[Finding]) -> list[Finding]:
    """What the compiler refuses and Ruff does not say: no script that a run rejects may count as clean."""
    if any(finding.code == "invalid-syntax" for finding in findings):
        return []
    line, column = problem.line or 1, problem.column or 1
    return [Finding("invalid-syntax", problem.message, max(1, line), max(1, column))]


def _is_result(finding: Finding, source: Source) -> bool:
    last: ast.Expr | None = source.last
    if last is None or finding.code not in _VALUE_RULES:
        return False
    return (last.lineno, last.col_offset + 1) <= (finding.line, finding.column)


def _rules(names: Collection[str], *, is_program: bool) -> list[str]:
    """What Ruff is to look for, as its options."""
    given = () if is_program else ("files", *BRIDGE_NAMES)
    defined = sorted({*given, *(name for name in names if name.isidentifier())})
    selected, ignored = (SELECTED_OF_PROGRAMS, IGNORED_OF_PROGRAMS) if is_program else (SELECTED, IGNORED)
    return [
        *("--select", ",".join(selected), "--ignore", ",".join(ignored)),
        *("--config", f"builtins = {json.dumps(defined, ensure_ascii=False)}"),
    ]


def _ruff(code: str, rules: list[str]) -> list[bytes]:
    """Ruff's report, one JSON object a line. Cut off where it grows past what anyone would read."""
    with _temporary_file() as errors:
        process = _start(rules, errors)
        timer = threading.Timer(LINT_SECONDS, process.kill)
        timer.daemon = True  # a signal in the middle of this must not leave the process waiting for it
        try:
            timer.start()
            report = _exchange(process, code.encode(errors="replace"))
            status = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
        if status not in (0, 1) and len(report) <= REPORT_BYTES:
            errors.seek(0)
            raise LintUnavailable(_failure(status, errors.read(1000).decode(errors="replace").strip()))
    lines = report.splitlines()
    return lines if len(report) <= REPORT_BYTES else lines[:-1]


def _temporary_file() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile()
    except OSError as problem:
        raise LintUnavailable(f"lint needs a temporary file, and there is no room for one: {problem}") from None


def _start(rules: list[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [
        *(ruff_binary(), "check", "--isolated", "--no-cache", "--quiet", "--output-format", "json-lines"),
        *("--target-version", f"py3{sys.version_info.minor}"),
        *rules,
        *("--stdin-filename", "main.py", "-"),
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env)
    except OSError as problem:
        broken = problem.errno in {errno.ENOENT, errno.EACCES, errno.ENOEXEC}
        hint = "pip install --force-reinstall ruff" if broken else "this machine, or this process, is at a limit"
        raise LintUnavailable(f"Ruff could not be started ({problem}): {hint}") from None


def _exchange(process: subprocess.Popen[bytes], source: bytes) -> bytes:
    # Ruff reads all of its input before it writes, so that neither side waits for the other.
    if process.stdin is None or process.stdout is None:
        raise LintUnavailable("Ruff was started without pipes")
    with process.stdout as report:
        try:
            with process.stdin as target:
                target.write(source)
        except BrokenPipeError:
            pass  # it ended early and says why on its stderr
        data = report.read(REPORT_BYTES + 1)
    if len(data) > REPORT_BYTES:
        process.kill()
    return data


def _failure(status: int, said: str) -> str:
    if status == -9:
        return f"Ruff did not finish within {LINT_SECONDS:.0f} s; lint the code in parts"
    return f"Ruff failed (status {status}): {said or 'it said nothing'}"
