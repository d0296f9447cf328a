"""Python source as the planner sees it: parsed once, with the places where a script hands back its value.

The source is hostile. Its size is capped before it gets here; a parse that CPython gives up on is a problem to report,
not an exception to raise.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from dataclasses import dataclass, field
from typing import Any

LONG_PARSE_BYTES = 20_000
"""Parsing more than this takes long enough to be kept off the event loop."""

# CPython 3.11 looks for the place of each expression of an f-string from the start of that string: braces times
# length steps, with the interpreter locked. 150 KB of `{1}` take 5 s, 1 MB three minutes.
_FSTRING_STEPS = 300_000_000
_FSTRING_START = r"""[fF][rR]?['"]"""


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Why a script cannot be run at all."""

    type: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A script that CPython would compile."""

    code: str
    tree: ast.Module
    returns: tuple[ast.Return, ...]  # top-level ones, in source order
    last: ast.Expr | None  # the last statement, when its value is the script's result
    warning: SourceProblem | None = None  # what CPython prints on stderr while it compiles the script
    notes: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was found out about this script: kept as long as the script is, and no longer."""


# A tree takes up to 800 times the memory of its source, so what is kept is bounded by size: 256 scripts of `1;1;…`
# would fill the host. A cache elsewhere whose keys are sources would keep them too; their place is `Source.notes`.
KEPT_BYTES = 200_000
KEPT_COUNT = 256
_kept: dict[str, Source | SourceProblem] = {}
# The filters of warnings belong to the process: two threads that set them in turn would leave the wrong ones behind.
_warnings_are_ours = threading.Lock()


def read(code: str) -> Source | SourceProblem:
    """Parse and compile-check `code`, in CPython's own words where it is wrong. Costs about 20 µs a line; cached."""
    known = _kept.pop(code, None)
    source = _read(code) if known is None else known
    _kept[code] = source  # the youngest is last
    if known is None:
        kept = list(_kept)
        size, count = sum(map(len, kept)), len(kept)
        while count > 1 and (size > KEPT_BYTES or count > KEPT_COUNT):
            oldest = kept[-count]
            _kept.pop(oldest, None)  # another thread may have been quicker
            size, count = size - len(oldest), count - 1
    return source


def _read(code: str) -> Source | SourceProblem:
    if code.count("{") * len(code) > _FSTRING_STEPS and _fstring_steps(code) > _FSTRING_STEPS:
        return SourceProblem("SyntaxError", "an f-string holds too many expressions to be parsed; write several")
    try:
        with _warnings_are_ours, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            tree = ast.parse(code, "main.py")
            found = (node for block in _blocks(tree.body) for node in block if isinstance(node, ast.Return))
            returns = tuple(sorted(found, key=lambda node: (node.lineno, node.col_offset)))
            _check(tree, returns)
    except SyntaxError as error:
        return SourceProblem(type(error).__name__, error.msg or "invalid syntax", error.lineno, error.offset)
    except ValueError as error:  # a NUL byte, or a lone surrogate that has no encoding
        return SourceProblem("SyntaxError", str(error))
    except (RecursionError, MemoryError):
        return SourceProblem("SyntaxError", "the source is nested too deeply to be parsed")
    last = tree.body[-1] if tree.body else None
    shown = [warning for warning in warned if issubclass(warning.category, SyntaxWarning)]
    warning = SourceProblem("SyntaxWarning", str(shown[0].message), shown[0].lineno) if shown else None
    return Source(code, tree, returns, last if isinstance(last, ast.Expr) else None, warning)


def program_problem(source: Source) -> SourceProblem | None:
    """Why it is no program, where it is a script: at its top level it returns or awaits."""
    try:
        with _warnings_are_ours, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.tree, "main.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return SourceProblem(type(error).__name__, error.msg or "invalid syntax", error.lineno, error.offset)
    except (RecursionError, MemoryError):
        return SourceProblem("SyntaxError", "the source is nested too deeply to be parsed")
    return None


def _fstring_steps(code: str) -> int:
    """What the f-strings of `code` cost to parse. Slow but linear, and other threads run meanwhile."""
    steps = 0
    if not re.search(_FSTRING_START, code):
        return steps
    import io
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.STRING and "f" in token.string[:2].lower():
                steps += token.string.count("{") * len(token.string)
                if steps > _FSTRING_STEPS:
                    break
    except (tokenize.TokenError, SyntaxError):
        pass  # the parser stops at the same place
    return steps


def _check(tree: ast.Module, returns: tuple[ast.Return, ...]) -> None:
    """What only the compiler finds: `break` outside a loop, a name both global and parameter, …"""
    # A top-level return is ours to allow: the compiler is shown the expression that it returns in its place.
    shown = {id(node): _as_statement(node) for node in returns}
    blocks = [(block, list(block)) for block in _blocks(tree.body)] if returns else []
    for block, _ in blocks:
        block[:] = [shown.get(id(node), node) for node in block]
    try:
        compile(tree, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    finally:
        for block, original in blocks:
            block[:] = original


def _as_statement(node: ast.Return) -> ast.stmt:
    return ast.copy_location(ast.Pass() if node.value is None else ast.Expr(node.value), node)


def _blocks(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    """Every list of statements that runs at the top level, inside `if`, `for`, `with`, `try` and `match` too."""
    found: list[list[ast.stmt]] = []
    stack = [body]
    while stack:
        block = stack.pop()
        found.append(block)
        for node in block:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                stack.extend(
                    inner
                    for name in ("body", "orelse", "finalbody")
                    if isinstance(inner := getattr(owner, name, None), list)
                )
    return found
