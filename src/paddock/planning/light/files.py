"""Files: only those that a run is given or makes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import modules, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, STR, Kinds, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def _open(a: Analysis, node: ast.Call) -> Kinds:
    mode = node.args[1] if len(node.args) > 1 else ast.Constant("r")
    for keyword in node.keywords:
        if keyword.arg == "mode":
            mode = keyword.value
        elif not isinstance(keyword.value, ast.Constant) or keyword.value.value not in ("utf-8", "", None):
            raise Refused(f"opens a file with another {keyword.arg}", node)
    if not isinstance(mode, ast.Constant) or mode.value not in ("r", "rb", "w", "rt"):
        raise Refused("opens a file in an unusual mode", node)
    _check_path(a, node.args[0])
    return frozenset({"binary file" if mode.value == "rb" else "text file"})


def _check_path(a: Analysis, node: ast.expr) -> None:
    """Only what a run itself is given or makes is the same everywhere."""
    if not a.value(node) <= {"str", "any", "path"}:
        raise Refused("opens something that is not a path", node)
    text: object = a.literal(node)
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        text = node.values[0].value
    elif isinstance(node, ast.JoinedStr):
        raise Refused("opens a path that is put together", node)
    if isinstance(text, str) and (not text.startswith(("/files/", "/tmp/")) or ".." in text):  # noqa: S108  a guest's
        raise Refused("opens a file that was not attached", node)
    a.diverges(node, "OSError", "opening a file")


def _path(a: Analysis, node: ast.Call) -> Kinds:
    _check_path(a, node.args[0])
    return frozenset({"path"})


def _json_load(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"text file"}:
        raise Refused("loads JSON from something other than a text file", node)
    modules.check_own_text(a, node, texts.JSON)
    a.diverges(node, "JSONDecodeError", "json.load()")
    return ANY


def _csv_rows(shape: str) -> Callable[[Analysis, ast.Call], Kinds]:
    def handler(a: Analysis, node: ast.Call) -> Kinds:
        kinds = a.value(node.args[0])
        if not all(shape_of(kind) in ("text file", "list") for kind in kinds):
            raise Refused("reads CSV from something other than a text file", node)
        row = a.holding(node, shape, STR if shape == "list" else {"str", "none"}, STR if shape == "dict" else ())
        return a.holding(node, "iterator", row, tag="rows")

    return handler


HANDLERS: dict[str, Callable[[Analysis, ast.Call], Kinds]] = {
    "open": _open,
    "pathlib.Path": _path,
    "json.load": _json_load,
    "csv.reader": _csv_rows("list"),
    "csv.DictReader": _csv_rows("dict"),
}
