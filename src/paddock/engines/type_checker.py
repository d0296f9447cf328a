"""The static type check of a Python script, done by the type checker in Monty's workers. The script does not run.

The types of tools come from JSON schemas, so a correct script may still violate them: a dict built key by key is not a
TypedDict, and a nullable field is rarely null. Findings that are not certain are dropped. This module matches the
messages of the pinned version of Monty.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
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
from paddock.model.events import Finished, Outline
from paddock.model.result import Verdict
from paddock.model.tools import AS_TEXT
from paddock.planning.plan import Plan
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from paddock.config import Config

Stubs: TypeAlias = Callable[[Collection[str]], str]
"""Returns the declarations of the tools, given the names that the script assigns itself."""

GATE = "PADDOCK_GATE"  # the checker ignores stubs whose name begins with an underscore
CHECK_SECONDS = 10.0
REPORT_CHARACTERS = 256 * 1024
MANY_TOOLS = 100
"""Of more tools, one script's are declared at a time."""
SHOWN_FINDINGS = 5
MAX_UNAWAITED = 1000
SHOWN_KEYS = 10
INVALID = "invalid-syntax"
NOT_AWAITED = "unused-awaitable"  # a warning of the checker, reported as an error for calls of tools
_COROUTINE = "CoroutineType[Any, Any, "  # how the type of a call without `await` begins
_TOO_LONG = "the type check took too long or too much memory: run a shorter script, or run it without the check"
SHOWN_CHARACTERS = 2000
"""The longest text of one finding. A script can give a type or a name of any length."""


class TypeChecker:
    """Checks scripts for every Python engine, in its own jailed workers, which start on first use."""

    def __init__(self, config: Config) -> None:
        # As many workers as guests: with fewer, a few scripts that take long to check would delay all others.
        self._workers = WorkerPool(config, 1, config.cpython.max_guests)
        self._declaring = LongWork()

    async def check(self, plan: Plan, outline: Outline | None, stubs: Stubs | None) -> Finished | None:
        """All type errors of the script as one rejection, or None if there are none.

        `stubs` declares the tools; without it they accept and return anything. Cancellation kills the worker.
        """
        is_compiled = outline is not None
        outline = outline or _guess_outline(plan.code)
        declarations, typed_dicts = await self._declare(plan, set(outline.bound), stubs)
        try:
            async with asyncio.timeout(min(CHECK_SECONDS, plan.limits.wall_seconds)):
                report = await self._report(plan, _checkable(plan.code, outline), declarations)
        except (TimeoutError, MontyCrashedError, MontyRuntimeError, MontySyntaxError) as error:
            # The run itself reports a script that cannot be parsed. A script can also make the checker crash.
            cause = error.exception() if isinstance(error, MontyRuntimeError | MontySyntaxError) else error
            is_limit = isinstance(cause, TimeoutError | MemoryError | MontyCrashedError)
            must_check = plan.type_check is True
            return _reject([Finding(None, None, "", _TOO_LONG)], typed_dicts) if is_limit and must_check else None
        except MontyError as error:
            raise EngineCrashed(f"the type checker's worker died: {error}") from None
        findings = [finding for finding in _findings(report) if stubs or finding.rule != NOT_AWAITED]
        if is_compiled and any(finding.rule == INVALID for finding in findings):
            return None  # the guest has compiled it: it ignores markdown fences, for example
        if stubs is not None:
            stored, spread = frozenset(outline.stored_keys), frozenset(outline.spread_lines)
            findings = [finding for finding in findings if _is_certain(finding, typed_dicts, stored, spread)]
            findings += _unawaited(outline, plan)
            if plan.type_check == "tools":
                tools = frozenset((*plan.tools, "call_tool"))
                findings = [finding for finding in findings if _is_about_tools(finding, tools, typed_dicts)]
        elif plan.type_check == "tools":
            findings = []
        return _reject(findings, typed_dicts) if findings else None

    async def _declare(self, plan: Plan, bound: set[str], stubs: Stubs | None) -> tuple[str, _TypedDicts]:
        """What the script may use, as stubs. Those of thousands of tools take a thread for seconds."""

        def declare() -> tuple[str, _TypedDicts]:
            declarations = _declarations(plan, bound, stubs)
            return declarations, _TypedDicts.of(declarations if stubs is not None else "")

        if len(plan.tools) > MANY_TOOLS:
            return await self._declaring.run(lambda: asyncio.to_thread(declare))
        return await asyncio.to_thread(declare)

    async def close(self) -> None:
        await self._workers.close()

    async def _report(self, plan: Plan, code: str, declarations: str) -> str:
        async with self._workers.session(
            limits={"max_feed_duration_secs": CHECK_SECONDS, "max_memory": plan.limits.memory_bytes},
            type_check=True,
            type_check_stubs=declarations,
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
    """One message of the checker about a position in the script."""

    line: int | None
    column: int | None
    rule: str
    text: str


def _reject(findings: list[Finding], typed_dicts: _TypedDicts) -> Finished:
    texts = [
        _plain_words(finding.text[:SHOWN_CHARACTERS], typed_dicts)[:SHOWN_CHARACTERS]
        for finding in findings[:SHOWN_FINDINGS]
    ]
    shown = [
        f"line {finding.line}, column {finding.column}: {text}" for finding, text in zip(findings, texts, strict=False)
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


def _plain_words(text: str, typed_dicts: _TypedDicts) -> str:
    """A finding's text in plain words, with the keys of the tool's object that it is about."""
    if _COROUTINE in text:
        return "this is the value of a call without `await`: write `await` before the call, here or above"
    for pattern, words in _IN_PLAIN_WORDS:
        text = re.sub(pattern, words, text)
    name = next((word for word in re.findall(r"`(\w+)`", text) if word in typed_dicts.keys), None)
    if name is None or "did you mean" in text:
        return text
    keys = typed_dicts.keys[name][:SHOWN_KEYS]
    return f"{text}: it is a dict with the keys {', '.join(keys)}, as in x['{keys[0]}']"


# A script chooses the keys and types in a finding, so no repetition can match what ends it.
_IN_PLAIN_WORDS = (
    (r"^TypedDict (`\w+`) can only be subscripted .*", r"\1 is not a list"),
    (
        r"^Invalid argument to key (\"[^\"]*\") with declared type (`[^`]*`) on [^:]*: value of type (`[^`]*`)$",
        r"\1 must be \2, not \3",
    ),
    (r"\bTypedDict `", "`"),
    (r"` constructor", "`"),
    (r"\bLiteral\[([^\]]*)\]", r"\1"),
)


def _checkable(code: str, outline: Outline) -> str:
    """Replace each top-level `return`, which the checker does not allow, with an assignment of the same width."""
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


def _guess_outline(code: str) -> Outline:
    """An outline for a script whose engine sends none. Superfluous entries only make the check less strict."""
    words = code.replace("=", " = ").replace(",", " ").replace("(", " ").replace(")", " ").split()
    bound = {word for before, word in pairwise(words) if before in _BINDING_WORDS}
    bound |= {word for word, after in pairwise(words) if after == "="}
    subscripts = pairwise(code.split("]"))
    stored = {part.rpartition("[")[2].strip("\"'") for part, rest in subscripts if rest.lstrip().startswith("=")}
    spread = range(1, code.count("\n") + 2) if "**" in code else ()
    return Outline(bound=list(bound), stored_keys=list(stored), spread_lines=list(spread))


_BINDING_WORDS = frozenset(("for", "as", "def", "class", "import", "global", "lambda"))


def _declarations(plan: Plan, bound: set[str], stubs: Stubs | None) -> str:
    inputs = [f"{name}: {'Any' if name in bound else _type(text)}" for name, text in plan.inputs_json.items()]
    gate = f"def {GATE}() -> None: ..."
    if stubs is not None:
        # A script sees only what the declarations list.
        exports = f"__all__ += {json.dumps([GATE, *plan.inputs_json])}"
        return "\n".join([stubs(bound | plan.inputs_json.keys()), exports, gate, *inputs])
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
    "def display(*objects: Any) -> None: ...",
)


def _type(text: str) -> str:
    """The type of an input's JSON text. Items have type Any, because the script may change them."""
    types = {"[": "list[Any]", "{": "dict[str, Any]", '"': "str", "t": "bool", "f": "bool", "n": "None"}
    return types.get(text[0]) or ("float" if {*text} & {*".eE"} else "int")


def _findings(report: str) -> list[Finding]:
    """The errors of a report whose lines read `main.py:LINE:COLUMN: error[RULE] TEXT`. Line 1 is the gate."""
    findings = []
    for line in report.split("\n"):
        position, _, message = line.partition(": ")
        level, _, rest = message.partition("[")
        rule, _, text = rest.partition("] ")
        name, row, column = [*position.split(":"), "", ""][:3]
        counts = level == "error" or (level == "warning" and rule == NOT_AWAITED)
        if name == "main.py" and counts and _is_position(row, column) and _is_about_script(rule, text):
            findings.append(Finding(int(row) - 1, int(column), rule, text))
    return findings


def _is_position(*numbers: str) -> bool:
    """Whether these are line or column numbers. A worker that a script has taken over may write anything."""
    return all(number.isdecimal() and len(number) < 10 for number in numbers)


def _is_about_script(rule: str, text: str) -> bool:
    """Whether a finding is about the script rather than a limitation of the checker."""
    # A module that the checker does not know may exist at run time; a future import comes after the gate.
    if rule == "unresolved-import" or "__future__" in text or "`return` statement outside" in text:
        return False
    name = text.removeprefix("Name `").removesuffix("` used when not defined")
    return not hasattr(builtins, name)  # the checker does not know `map`, `open` and other builtins


@dataclass(frozen=True, slots=True)
class _TypedDicts:
    """The names of the TypedDicts in the declarations of tools, and of the TypedDicts that allow extra keys."""

    names: frozenset[str]
    open_names: frozenset[str]
    keys: Mapping[str, list[str]]

    @classmethod
    def of(cls, declarations: str) -> _TypedDicts:
        lines: dict[str, str] = {}
        keys: dict[str, list[str]] = {}
        name = ""  # of the TypedDict whose lines these are
        for line in declarations.split("\n"):
            if line.startswith("class ") and "(TypedDict" in line:
                name = line[6 : line.index("(TypedDict")]
                lines[name] = line
            elif " = TypedDict(" in line:
                name = line[: line.index(" = TypedDict(")]
                lines[name] = line
            elif not line.startswith(" "):
                name = ""
            elif name and (field := re.match(r"\s+(\w+|\"[^\"]*\"): ", line)):
                keys.setdefault(name, []).append(field[1].strip('"'))
        open_names = frozenset(name for name, line in lines.items() if "extra_items" in line)
        return cls(frozenset(lines), open_names, keys)


def _is_certain(
    finding: Finding, typed_dicts: _TypedDicts, stored_keys: frozenset[str], spread_lines: frozenset[int]
) -> bool:
    """Whether a finding is an error whatever the tools return."""
    if finding.rule == "missing-typed-dict-key":
        return finding.line not in spread_lines
    text = finding.text
    if text.startswith("Unknown key") and (inner := _between(text, 'Unknown key "', '" for TypedDict `')) is not None:
        record, _, rest = text.partition('" for TypedDict `')[2].partition("`")
        # Not certain if the object has several possible types, allows extra keys, or the script stored the key itself.
        return not (
            record in typed_dicts.open_names or "subscripted object" in rest or inner in stored_keys or inner == AS_TEXT
        )
    if text.startswith("Invalid argument to key "):
        declared = _between(text, " with declared type `", "` on ") or ""
        actual = text.rpartition(" type `")[2].removesuffix("`")
        is_loose = declared.startswith("Literal[") and "Literal[" not in actual
        return not (" | " in actual or is_loose)
    actual, expected = _actual_and_expected(text)
    if actual in typed_dicts.names:
        return not _is_dict(expected)
    if actual and expected:
        # An error inside a dict literal is reported separately.
        return not (_is_dict(actual) and not typed_dicts.names.isdisjoint(expected.split(" | ")))
    return " | None`" not in text and "on `None` in union" not in text


def _actual_and_expected(text: str) -> tuple[str, str]:
    if (expected := _between(text, "Expected `", "`, found `")) is not None:
        return text.partition("`, found `")[2].rpartition("`")[0], expected
    if (actual := _between(text, "Object of type `", "` is not assignable to `")) is not None:
        return actual, text.partition("` is not assignable to `")[2].rpartition("`")[0]
    return "", ""


def _is_dict(kind: str) -> bool:
    return kind.partition("[")[0] in ("dict", "Mapping", "MutableMapping")


def _between(text: str, before: str, after: str) -> str | None:
    _, found, rest = text.partition(before)
    inner, ended, _ = rest.partition(after)
    return inner if found and ended else None


def _is_about_tools(finding: Finding, tools: frozenset[str], typed_dicts: _TypedDicts) -> bool:
    """Whether a finding is about a tool, its arguments or its result. Other errors show when the script runs."""
    text = finding.text
    words = "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
    if not typed_dicts.names.isdisjoint(words) or (_COROUTINE in text and f"{_COROUTINE}Unknown" not in text):
        return True
    return not tools.isdisjoint(re.findall(r"function `(\w++)`", text))


def _unawaited(outline: Outline, plan: Plan) -> list[Finding]:
    """Findings for tool calls that are returned without `await`. The checker sees an assignment, which is valid.

    A hostile guest can name any number of calls, anywhere.
    """
    names, size = set(plan.tools).difference(outline.bound), len(plan.code)
    found = (
        Finding(line, column, NOT_AWAITED, f"function `{name}` is called but not awaited")
        for line, column, name in outline.unawaited
        if name in names and 0 < line <= size and 0 < column <= size
    )
    return list(islice(found, MAX_UNAWAITED))
