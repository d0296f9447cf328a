"""A script as it is handed to Monty: the same lines, with its value kept under a name instead of crossing as an object.

A value with shared references can be exponentially larger outside than inside, so it is turned into JSON text by the
guest, under the guest's limits. Nothing is inserted that would move a line.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from paddock.planning.imports import refused_imports
from paddock.planning.light import stamps
from paddock.planning.light.patterns import mended
from paddock.planning.light.unpacking import bounded
from paddock.planning.python_source import Source

RESULT = "__paddock_result"
DUMP = f"from json import dumps as __paddock_dumps\n__paddock_dumps({RESULT}, allow_nan=False)"

_NO_RETURN = b"None ;"
"""In the place of the word `return`, and as long, so that no column moves."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A script ready to be fed."""

    text: str
    lines: int  # of the script itself; what fails below them failed on our own account
    gives_json: bool  # the feed itself answers with the result's JSON text
    needs_dump: bool  # the result waits under RESULT for a second feed
    moved: Mapping[int, tuple[list[int], list[int]]]  # by line: from which column on, by how much

    def column(self, line: int, column: int) -> int:
        """Where `column` of the fed text is in the script."""
        starts, lengths = self.moved.get(line, ([], []))
        place = bisect_left(starts, column)
        return max(1, column - (lengths[place - 1] if place else 0))


def prepare(source: Source, refused_modules: tuple[str, ...] = ()) -> Prepared:
    """Keep the script's result under RESULT; where only the last expression gives one, dump it in the same feed."""
    key = ("monty", refused_modules)
    prepared = source.notes.get(key)
    if not isinstance(prepared, Prepared):
        prepared = source.notes[key] = _prepare(source, refused_modules)
    return prepared


def _prepare(source: Source, refused_modules: tuple[str, ...]) -> Prepared:
    lines = script_lines(source.code)
    edits: list[tuple[int, int, str]] = []
    final = _final_return(source)
    for node in source.returns:
        if node is final:
            lines[node.lineno - 1] = _without_keyword(lines[node.lineno - 1], node.col_offset)
            edits.append((node.lineno, node.col_offset + len(_NO_RETURN), f"{RESULT} = ("))
            edits += _around(node, "", ")")[1:]
        elif node.value is not None:
            edits += _around(node.value, f"None if [{RESULT} := (", ")] else None")
    if source.last is not None:
        edits += _around(source.last, f"{RESULT} = (", ")")
    for literal, places in mended(ast.walk(source.tree)) if "re." in source.code and "$" in source.code else ():
        edits += _mend(literal, places, lines[literal.lineno - 1])
    for call in stamps.mended(list(ast.walk(source.tree))) if "strptime" in source.code else ():
        edits += _check_stamp(call, lines)
    for sequence, wanted in bounded(ast.walk(source.tree)) if "map(" in source.code or " for " in source.code else ():
        edits += _around(sequence, "(", f")[:{wanted}]")
    for statement, name in refused_imports(source.tree, refused_modules):
        edits += [(statement.lineno, statement.col_offset, f'raise ModuleNotFoundError("No module named {name!r}"); ')]
    by_line: dict[int, list[tuple[int, str]]] = {}
    for line, offset, inserted in sorted(edits, key=lambda edit: edit[:2]):
        by_line.setdefault(line, []).append((offset, inserted))
    moved: dict[int, tuple[list[int], list[int]]] = {}
    for line, inserts in by_line.items():
        lines[line - 1], moved[line] = _insert(lines[line - 1], inserts)
    gives_json = final is not None or (source.last is not None and not source.returns)
    text = "\n".join([*lines, DUMP] if gives_json else lines)
    return Prepared(text, len(lines), gives_json, bool(source.returns) and final is None, moved)


def _final_return(source: Source) -> ast.Return | None:
    """The only `return`, where it is the last statement: nothing runs after it, with or without the keyword."""
    last = source.tree.body[-1] if source.tree.body else None
    is_only = len(source.returns) == 1 and source.returns[0] is last
    return last if is_only and isinstance(last, ast.Return) and last.value is not None else None


def _without_keyword(line: str, offset: int) -> str:
    data = line.encode()
    return (data[:offset] + _NO_RETURN + data[offset + len(_NO_RETURN) :]).decode(errors="replace")


def _insert(line: str, inserts: list[tuple[int, str]]) -> tuple[str, tuple[list[int], list[int]]]:
    """`line` with texts put in at byte offsets, and how far what follows each of them has moved."""
    data, parts, last, characters, moved = line.encode(), [], 0, 0, 0
    starts: list[int] = []
    lengths: list[int] = []
    for offset, inserted in inserts:
        piece = data[last:offset].decode(errors="replace")
        parts += [piece, inserted]
        characters += len(piece)
        moved += len(inserted)
        starts.append(characters + moved)
        lengths.append(moved)
        last = offset
    return "".join([*parts, data[last:].decode(errors="replace")]), (starts, lengths)


def _mend(literal: ast.Constant, places: list[int], line: str) -> list[tuple[int, int, str]]:
    """Around each `$` of a pattern: what makes Monty read it as CPython does."""
    data = line.encode()
    written = data[literal.col_offset : literal.end_col_offset].decode()
    if written.count("$") != len(places):
        return []
    newline = "\\n" if written[0] in "rR" else "\\\\n"
    found = [literal.col_offset + place for place, char in enumerate(written) if char == "$"]
    return [edit for at in found for edit in ((literal.lineno, at, f"(?={newline}?"), (literal.lineno, at + 1, ")"))]


def _check_stamp(call: ast.Call, lines: list[str]) -> list[tuple[int, int, str]]:
    """Around the arguments of `strptime`: what looks at them as CPython does."""
    line, opened = call.func.end_lineno, call.func.end_col_offset
    closed = call.end_col_offset
    if line is None or opened is None or call.end_lineno is None or closed is None:
        raise ValueError("a parsed node has an end")
    while (place := lines[line - 1].encode().find(b"(", opened)) < 0:
        line, opened = line + 1, 0
    return [(line, place + 1, "*__paddock_stamp("), (call.end_lineno, closed - 1, ")")]


def script_lines(code: str) -> list[str]:
    """The lines as Python's tokenizer counts them; other separators of Unicode do not end one."""
    return code.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _around(node: ast.expr | ast.stmt, before: str, after: str) -> list[tuple[int, int, str]]:
    if node.end_lineno is None or node.end_col_offset is None:
        raise ValueError("a parsed node has an end")
    return [(node.lineno, node.col_offset, before), (node.end_lineno, node.end_col_offset, after)]
