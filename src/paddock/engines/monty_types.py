"""Static type check of a script before it runs, by the checker inside a Monty worker. Nothing of the script runs."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from pydantic_monty import FunctionSnapshot, Monty, MontyRuntimeError, MontyTypingError

from paddock.engines.monty_code import script_lines
from paddock.engines.monty_findings import Finding, about_tools, certain, unawaited
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning.plan import Plan
from paddock.planning.python_source import Source

GATE = "PADDOCK_GATE"  # a stub whose name begins with an underscore is not seen
FINDING = re.compile(
    r"^main\.py:(\d+):(\d+): (?:error|warning(?=\[unused-awaitable\]))\[([a-z-]+)\] (.*)$", re.MULTILINE
)
NOT_AWAITED = "unused-awaitable"  # a warning to the checker; of a tool's call it is an error, where tools are declared
# A module that this checker does not know may still be there at run time, and a future import is no longer the first
# statement once the gate stands before it.
NOT_OURS = ("unresolved-import",)
# Its own list of builtins is shorter than the interpreter's: `map`, `open`, `ImportError` and more are not on it.
BUILTIN = re.compile(rf"Name `({'|'.join(dir(builtins))})` used when not defined")
CHECK_SECONDS = 10.0
Stubs: TypeAlias = Callable[[Collection[str]], str]
"""Gives the declarations of the tools, for a script that assigns these names itself."""


def check_types(pool: Monty, plan: Plan, source: Source, stubs: Stubs | None = None) -> Finished | None:
    """The first thing that is wrong by its types, with all of them in the message; None where nothing is."""
    declared = _stubs(plan, source, stubs)
    with pool.checkout(
        limits={"max_feed_duration_secs": CHECK_SECONDS, "max_memory": plan.limits.memory_bytes},
        type_check=True,
        type_check_stubs=declared,
        type_check_format="concise",
    ) as session:
        # The worker checks a whole feed before it runs the first line. That line calls the gate, which is never
        # answered: reaching it means that the check passed.
        try:
            snapshot: Any = session.feed_start(f"{GATE}()\n{_checkable(source)}")
            while isinstance(snapshot, FunctionSnapshot) and snapshot.function_name == "import_stubs":
                snapshot = snapshot.resume_auto()
        except MontyTypingError as error:
            return _finding(error.display(), plan, source, declared if stubs else "")
        except MontyRuntimeError as error:
            return _unchecked(error) if plan.type_check is True else None
    return _finding("", plan, source, declared if stubs else "")


def _unchecked(error: MontyRuntimeError) -> Finished | None:
    """The worker gave up. What it cannot parse is for the run itself to report; a check without an end is not."""
    if not isinstance(error.exception(), TimeoutError | MemoryError):
        return None
    message = "the type check took too long or too much memory: run a shorter script, or run it without the check"
    return Finished(Verdict.REJECTED, error_type="TypingError", error_message=message)


def _finding(report: str, plan: Plan, source: Source, stubs: str) -> Finished | None:
    found = [
        Finding(int(line) - 1, int(column), rule, text)
        for line, column, rule, text in FINDING.findall(report)
        if _counts(rule, text) and (stubs or rule != NOT_AWAITED)
    ]
    if stubs:
        found = [*certain(found, source.tree, stubs), *unawaited(source, plan.tools)]
    if plan.type_check == "tools":
        found = about_tools(found, plan.tools, stubs)
    if not found:
        return None
    lines = [f"line {one.line}, column {one.column}: {one.text} [{one.rule}]" for one in found]
    return Finished(
        Verdict.REJECTED,
        error_type="TypingError",
        error_message=found[0].text if len(lines) == 1 else "\n".join(lines),
        line=found[0].line,
        column=found[0].column,
    )


def _counts(rule: str, text: str) -> bool:
    return rule not in NOT_OURS and "__future__" not in text and not BUILTIN.fullmatch(text)


def _checkable(source: Source) -> str:
    """The script with each top-level `return` written as an assignment of the same width: the checker allows none."""
    lines = script_lines(source.code)
    for node in source.returns:
        data = lines[node.lineno - 1].encode()
        word = b"pass  " if node.value is None else b"____ ="
        lines[node.lineno - 1] = (data[: node.col_offset] + word + data[node.col_offset + 6 :]).decode()
    return "\n".join(lines)


def _stubs(plan: Plan, source: Source, stubs: Stubs | None) -> str:
    rebound = {
        node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    inputs = [
        f"{name}: {'Any' if name in rebound else _type(json.loads(text))}" for name, text in plan.inputs_json.items()
    ]
    gate = f"def {GATE}() -> None: ..."
    if stubs is not None:
        # What the declarations list is all that a script sees of them.
        listed = f"__all__ += {json.dumps([GATE, *plan.inputs_json])}"
        return "\n".join([stubs(rebound | plan.inputs_json.keys()), listed, gate, *inputs])
    lines = ["from typing import Any", gate]
    lines += ["files: list[dict[str, str]]"] if "files" not in plan.inputs_json and "files" not in rebound else []
    lines += inputs
    lines += [
        "async def call_tool(name: str, params: dict[str, Any] | None = None, "
        "arguments: dict[str, Any] | None = None) -> Any: ...",
        "async def report_progress(done: float, total: float | None = None, message: str = '') -> None: ...",
        "async def create_artifact(filename: str, content: str | bytes, file_type: str | None = None) "
        "-> dict[str, Any]: ...",
        "async def read_artifact(ref: str) -> dict[str, Any]: ...",
    ]
    lines += [f"async def {name}(payload: dict[str, Any] | None = None) -> Any: ..." for name in plan.tools]
    return "\n".join(lines)


def _type(value: Any) -> str:
    """The type of an input as far as it is certain: what a list or an object holds, the script may change."""
    if isinstance(value, list):
        return "list[Any]"
    if isinstance(value, dict):
        return "dict[str, Any]"
    return "None" if value is None else type(value).__name__
