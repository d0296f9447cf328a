"""Imports of modules that a run is not to have."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from paddock.planning.misfit import Misfit
from paddock.planning.python_source import Source


def refused_import(source: Source, refused: tuple[str, ...]) -> Misfit | None:
    """Why full Python must run a script that imports such a module: there the import fails as CPython words it."""
    key = ("refused", refused)
    if key not in source.notes:
        found = next(refused_imports(source.tree, refused), None)
        misfit = None if found is None else Misfit(f"imports {found[1]}, which is refused", found[0].lineno)
        source.notes[key] = misfit
    known: Misfit | None = source.notes[key]
    return known


def refused_imports(tree: ast.AST, refused: Collection[str]) -> Iterator[tuple[ast.stmt, str]]:
    """The imports that must fail, each with the name of the module that is not to be there."""
    if refused:
        for node in ast.walk(tree):
            names = _imported(node)
            absent = next((part for name in names for part in _packages(name) if part in refused), None)
            if absent is not None and isinstance(node, ast.stmt):
                yield node, absent


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _packages(name: str) -> list[str]:
    """`a`, `a.b` and `a.b.c` for `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
