"""The static type check of a Python script, by the checker that Monty's workers contain. Nothing of the script runs.

The declared types of tools come from schemas, and a value of the right shape may still have another type: a dict that a
script puts together is no TypedDict, a field that may be null often is not. Findings that are not certain are dropped.
The wording that is matched is that of the pinned version of Monty.
"""

from __future__ import annotations

import asyncio
import builtins
import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_monty import (
    AsyncFunctionSnapshot,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    MontyTypingError,
)

from paddock.engines.monty_workers import WorkerPool
from paddock.errors import EngineCrashed
from paddock.model.events import Finished
from paddock.model.outline import Outline
from paddock.model.result import Verdict
from paddock.planning.plan import Plan

if TYPE_CHECKING:
    from paddock.config import Config

Stubs: TypeAlias = Callable[[Collection[str]], str]
"""Gives the declarations of the tools, for a script that assigns these names itself."""

GATE = "PADDOCK_GATE"  # a stub whose name begins with an underscore is not seen
CHECK_SECONDS = 10.0
WORKERS = 2
REPORT_CHARACTERS = 256 * 1024
SHOWN_FINDINGS = 50
NOT_AWAITED = "unused-awaitable"  # a warning to the checker; for a tool's call it is an error
_COROUTINE = "CoroutineType[Any, Any, "
_TOO_LONG = "the type check took too long or too much memory: run a shorter script, or run it without the check"
SHOWN_CHARACTERS = 2000
"""The longest text of one finding. A script can give a type or a name of any length."""


class TypeChecker:
    """Checks scripts for every Python engine, in walled workers of its own that start on first use."""

    def __init__(self, config: Config) -> None:
        self._workers = WorkerPool(config, 1, WORKERS)

    async def check(self, plan: Plan, outline: Outline | None, stubs: Stubs | None) -> Finished | None:
        """Everything that is wrong with the script by its types, as one rejection; None if nothing is.

        `stubs` declares the tools; without it they take and give anything. Cancelled, it kills its worker.
        """
        outline = outline or _guess(plan.code)
        declared = await asyncio.to_thread(_declarations, plan, set(outline.bound), stubs)
        try:
            async with asyncio.timeout(min(CHECK_SECONDS, plan.limits.wall_seconds)):
                report = await self._report(plan, _checkable(plan.code, outline), declared)
        except (TimeoutError, MontyCrashedError, MontyRuntimeError, MontySyntaxError) as error:
            # What it cannot parse is for the run itself to report. A script can also make it crash.
            cause = error.exception() if isinstance(error, MontyRuntimeError | MontySyntaxError) else error
            is_limit = isinstance(cause, TimeoutError | MemoryError | MontyCrashedError)
            return _rejected([Finding(None, None, "", _TOO_LONG)]) if is_limit and plan.type_check is True else None
        except MontyError as error:
            raise EngineCrashed(f"the type checker's worker died: {error}") from None
        findings = [found for found in _findings(report) if stubs or found.rule != NOT_AWAITED]
        if stubs is not None:
            records = _Records.of(declared)
            changes = _Changes.of(outline)
            findings = [found for found in findings if _is_certain(found, records, changes)]
            findings += _unawaited(outline, plan.tools)
            if plan.type_check == "tools":
                findings = [found for found in findings if _is_about_tools(found, plan.tools, records)]
        elif plan.type_check == "tools":
            findings = []
        return _rejected(findings) if findings else None

    async def close(self) -> None:
        await self._workers.close()

    async def _report(self, plan: Plan, code: str, declared: str) -> str:
        async with self._workers.session(
            limits={"max_feed_duration_secs": CHECK_SECONDS, "max_memory": plan.limits.memory_bytes},
            type_check=True,
            type_check_stubs=declared,
            type_check_format="concise",
        ) as session:
            # The worker checks the whole text before it runs the first line, which calls the gate. The gate is never
            # answered: reaching it means that the check passed.
            try:
                at: Any = await session.feed_start(f"{GATE}()\n{code}")
                while isinstance(at, AsyncFunctionSnapshot) and at.function_name == "import_stubs":
                    at = await at.resume_auto()
            except MontyTypingError as error:
                return error.display()[:REPORT_CHARACTERS]
        return ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the checker says about a place in the script."""

    line: int | None
    column: int | None
    rule: str
    text: str


def _rejected(findings: list[Finding]) -> Finished:
    texts = [found.text[:SHOWN_CHARACTERS] for found in findings[:SHOWN_FINDINGS]]
    shown = [
        f"line {found.line}, column {found.column}: {text} [{found.rule}]"
        for found, text in zip(findings, texts, strict=False)
    ]
    if len(findings) > SHOWN_FINDINGS:
        shown.append(f"and {len(findings) - SHOWN_FINDINGS} more")
    first = findings[0]
    return Finished(
        Verdict.REJECTED,
        error_type="TypingError",
        error_message=texts[0] if len(findings) == 1 else "\n".join(shown),
        line=first.line,
        column=first.column,
    )


def _checkable(code: str, outline: Outline) -> str:
    """The script with each top-level `return` as an assignment of the same width: the checker allows none there."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    by_line: dict[int, list[tuple[int, bool]]] = {}  # each line is encoded once, however many returns it has
    for line, offset, has_value in outline.returns:
        if 1 <= line <= len(lines):
            by_line.setdefault(line, []).append((offset, has_value))
    for line, found in by_line.items():
        data = bytearray(lines[line - 1].encode(errors="replace"))
        for offset, has_value in found:
            if data[offset : offset + 6] == b"return":
                data[offset : offset + 6] = b"____ =" if has_value else b"pass  "
        lines[line - 1] = data.decode(errors="replace")
    return "\n".join(lines)


def _guess(code: str) -> Outline:
    """An outline for a script whose engine sends none. What it has too much of only makes the check milder."""
    words = code.replace("=", " = ").replace(",", " ").replace("(", " ").replace(")", " ").split()
    bound = {word for before, word in pairwise(words) if before in _BINDING_WORDS}
    bound |= {word for word, after in pairwise(words) if after == "="}
    subscripts = pairwise(code.split("]"))
    stored = {part.rpartition("[")[2].strip("\"'") for part, rest in subscripts if rest.lstrip().startswith("=")}
    spread = [(1, 2**31 - 1)] if "**" in code else []
    return Outline(bound=list(bound), stored_keys=list(stored), spread_lines=spread)


_BINDING_WORDS = frozenset(("for", "as", "def", "class", "import", "global", "lambda"))


def _declarations(plan: Plan, bound: set[str], stubs: Stubs | None) -> str:
    inputs = [f"{name}: {'Any' if name in bound else _type(text)}" for name, text in plan.inputs_json.items()]
    gate = f"def {GATE}() -> None: ..."
    if stubs is not None:
        # A script sees only what the declarations list.
        listed = f"__all__ += {json.dumps([GATE, *plan.inputs_json])}"
        return "\n".join([stubs(bound | plan.inputs_json.keys()), listed, gate, *inputs])
    files = [] if "files" in plan.inputs_json or "files" in bound else ["files: list[dict[str, str]]"]
    tools = [f"async def {name}(payload: dict[str, Any] | None = None) -> Any: ..." for name in plan.tools]
    return "\n".join(["from typing import Any", gate, *files, *inputs, *_BRIDGE, *tools])


_BRIDGE = (
    "async def call_tool(name: str, params: dict[str, Any] | None = None, "
    "arguments: dict[str, Any] | None = None) -> Any: ...",
    "async def report_progress(done: float, total: float | None = None, message: str = '') -> None: ...",
    "async def create_artifact(filename: str, content: str | bytes, file_type: str | None = None) "
    "-> dict[str, Any]: ...",
    "async def read_artifact(ref: str) -> dict[str, Any]: ...",
)


def _type(text: str) -> str:
    """The type of an input's JSON text as far as it is certain: what a list or an object holds, a script may change."""
    known = {"[": "list[Any]", "{": "dict[str, Any]", '"': "str", "t": "bool", "f": "bool", "n": "None"}
    return known.get(text[0]) or ("float" if {*text} & {*".eE"} else "int")


def _findings(report: str) -> list[Finding]:
    """The errors of a report whose lines read `main.py:LINE:COLUMN: error[RULE] TEXT`. The gate is its first line."""
    found = []
    for line in report.split("\n"):
        place, _, said = line.partition(": ")
        level, _, rest = said.partition("[")
        rule, _, text = rest.partition("] ")
        name, row, column = [*place.split(":"), "", ""][:3]
        counts = level == "error" or (level == "warning" and rule == NOT_AWAITED)
        if name == "main.py" and counts and row.isdecimal() and column.isdecimal() and _is_ours(rule, text):
            found.append(Finding(int(row) - 1, int(column), rule, text))
    return found


def _is_ours(rule: str, text: str) -> bool:
    """Whether a finding is about the script, and not about what this checker does not know or does not allow."""
    # A module that the checker does not know may be there at run time; a future import comes after the gate.
    if rule == "unresolved-import" or "__future__" in text or "`return` statement outside" in text:
        return False
    name = text.removeprefix("Name `").removesuffix("` used when not defined")
    return not hasattr(builtins, name)  # its own list of builtins lacks `map`, `open` and more


@dataclass(frozen=True, slots=True)
class _Records:
    """The TypedDicts that the declarations of tools define, and those of them that may have further keys."""

    names: frozenset[str]
    are_open: frozenset[str]

    @classmethod
    def of(cls, declared: str) -> _Records:
        lines: dict[str, str] = {}
        for line in declared.split("\n"):
            if line.startswith("class ") and "(TypedDict" in line:
                lines[line[6 : line.index("(TypedDict")]] = line
            elif " = TypedDict(" in line:
                lines[line[: line.index(" = TypedDict(")]] = line
        return cls(frozenset(lines), frozenset(name for name, line in lines.items() if "extra_items" in line))


@dataclass(frozen=True, slots=True)
class _Changes:
    """The keys that a script stores into dicts, and the lines on which it unpacks dicts into others."""

    stored_keys: frozenset[str]
    spreads: list[tuple[int, int]]
    """First line and greatest last line so far, in order: a search takes logarithmic time."""

    @classmethod
    def of(cls, outline: Outline) -> _Changes:
        spreads = sorted(outline.spread_lines)
        lasts = accumulate((last for _, last in spreads), max)
        return cls(
            frozenset(outline.stored_keys), [(first, last) for (first, _), last in zip(spreads, lasts, strict=True)]
        )

    def spread_at(self, line: int) -> bool:
        place = bisect_right(self.spreads, line, key=itemgetter(0))
        return place > 0 and self.spreads[place - 1][1] >= line


def _is_certain(found: Finding, records: _Records, changes: _Changes) -> bool:
    """Whether a finding holds whatever the tools answer."""
    if found.rule == "missing-typed-dict-key":
        return not changes.spread_at(found.line or 0)
    text = found.text
    if text.startswith("Unknown key") and (inner := _between(text, 'Unknown key "', '" for TypedDict `')) is not None:
        record, _, rest = text.partition('" for TypedDict `')[2].partition("`")
        # Of one of several types, of one that may have others too, or put there by the script itself.
        return not (record in records.are_open or "subscripted object" in rest or inner in changes.stored_keys)
    if text.startswith("Invalid argument to key "):
        declared = _between(text, " with declared type `", "` on ") or ""
        given = text.rpartition(" type `")[2].removesuffix("`")
        is_loose = declared.startswith("Literal[") and "Literal[" not in given
        return not (" | " in given or is_loose)
    given, expected = _given_and_expected(text)
    if given in records.names:
        return not _is_dict(expected)
    if given and expected:
        # What is wrong inside a literal dict is a finding of its own.
        return not (_is_dict(given) and not records.names.isdisjoint(expected.split(" | ")))
    return " | None`" not in text and "on `None` in union" not in text


def _given_and_expected(text: str) -> tuple[str, str]:
    if (expected := _between(text, "Expected `", "`, found `")) is not None:
        return text.partition("`, found `")[2].rpartition("`")[0], expected
    if (given := _between(text, "Object of type `", "` is not assignable to `")) is not None:
        return given, text.partition("` is not assignable to `")[2].rpartition("`")[0]
    return "", ""


def _is_dict(kind: str) -> bool:
    return kind.partition("[")[0] in ("dict", "Mapping", "MutableMapping")


def _between(text: str, before: str, after: str) -> str | None:
    _, found, rest = text.partition(before)
    inner, ended, _ = rest.partition(after)
    return inner if found and ended else None


def _is_about_tools(found: Finding, tools: Collection[str], records: _Records) -> bool:
    """Whether a finding speaks of a tool, of what it takes or gives. The others show when the script runs."""
    text = found.text
    words = "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
    if not records.names.isdisjoint(words) or (_COROUTINE in text and f"{_COROUTINE}Unknown" not in text):
        return True
    return any(f"function `{name}`" in text for name in (*tools, "call_tool"))


def _unawaited(outline: Outline, tools: Iterable[str]) -> list[Finding]:
    """Calls of tools that are returned as they are. To the checker a return is an assignment, which may be right."""
    names = set(tools).difference(outline.bound)
    return [
        Finding(line, column, NOT_AWAITED, f"function `{name}` is called and not awaited")
        for line, column, name in outline.unawaited
        if name in names
    ]
