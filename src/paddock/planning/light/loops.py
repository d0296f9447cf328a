"""Loops over `enumerate(x)`, `zip(x, …)` or `reversed(x)`, which run over a copy of x in Monty."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import lazy, total
from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import METHODS
from paddock.planning.light.things import Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def check_dict(a: Analysis, node: ast.For) -> None:
    """Refuse a body that takes keys out of the dict it runs over and puts others in: CPython counts them only."""
    source = node.iter
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
        source = source.func.value
    if isinstance(source, ast.Call):
        return
    last = node.body[-1].end_lineno or node.lineno
    for thing in in_order(a.value(source)):
        if id(thing) not in a.removals or shape_of(thing) not in ("dict", "defaultdict", "Counter"):
            continue
        calls_own = any(_may_run_own_code(a, inner) for part in node.body for inner in ast.walk(part))
        both = [
            any(node.body[0].lineno <= line <= last or (calls_own and scope != id(a.scope)) for line, scope in sites)
            for sites in (a.removals[id(thing)], a.additions.get(id(thing), ()))
        ]
        if all(both):
            raise Refused("takes keys out of the dict it loops over and puts others in", node)


def check(a: Analysis, node: ast.For) -> None:
    """Refuse a body that changes what its loop runs over: Monty would not see the change."""
    if not total.is_plain(a, node.iter):
        raise Refused("loops over a lazy value that reads what the loop may change", node)
    name = lazy.lazy_name(a, node.iter)
    if name is None or not isinstance(node.iter, ast.Call):
        return
    sources = _sources(node.iter)
    index = node.target.elts[0] if name == "enumerate" and isinstance(node.target, ast.Tuple) else None
    if sources & {ast.dump(ast.Name(changed, ast.Load())) for changed in a.facts.changed_from_afar}:
        raise Refused(f"loops with {name}() over what a function changes", node)
    _check_aliases(a, node, name, index)
    for statement in node.body:
        for inner in ast.walk(statement):
            if _changes(inner, sources, index):
                raise Refused(f"changes what it loops over with {name}()", inner)
            if _hands_on(inner, sources):
                raise Refused(f"hands on what it loops over with {name}()", inner)


def _hands_on(node: ast.AST, sources: set[str]) -> bool:
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in HARMLESS):
        return False
    return any(ast.dump(_read(lazy.plain(argument))) in sources for argument in node.args)


def _check_aliases(a: Analysis, node: ast.For, name: str, index: ast.expr | None) -> None:
    """The same under another name: what the loop runs over is changed in its body, or by a function called there."""
    last = node.body[-1].end_lineno or node.lineno
    inside = [inner for part in node.body for inner in ast.walk(part)]
    calls_own = any(_may_run_own_code(a, inner) for inner in inside)
    at_index = {inner.lineno for inner in inside if isinstance(inner, ast.Subscript) and _is_at(inner, index)}
    for thing in source_things(a, node.iter):
        for line, scope in a.changes.get(id(thing), ()):
            within = node.body[0].lineno <= line <= last
            if (within and line not in at_index) or (calls_own and not within and scope != id(a.scope)):
                raise Refused(f"changes what it loops over with {name}()", node)


def _is_at(node: ast.Subscript, index: ast.expr | None) -> bool:
    return index is not None and ast.dump(_read(node.slice)) == ast.dump(_read(index))


def source_things(a: Analysis, node: ast.expr) -> list[Thing]:
    """What a lazy call runs over, as things."""
    found: list[Thing] = []
    if isinstance(node, ast.Call):
        for argument in node.args:
            plain = lazy.plain(argument)
            if lazy.is_lazy(a, plain):
                found += source_things(a, plain)
            elif not isinstance(plain, ast.Call):
                found += [kind for kind in in_order(a.value(plain)) if isinstance(kind, Thing)]
    return found


def _may_run_own_code(a: Analysis, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        found = a.scope.find(node.func.id)
        return any(shape_of(kind) in ("function", "class", "instance") for kind in found or ())
    if not isinstance(node.func, ast.Attribute):
        return True
    if isinstance(node.func.value, ast.Name | ast.Attribute):
        return any(shape_of(kind) in ("instance", "class") for kind in a.value(node.func.value))
    return not any(node.func.attr in methods for methods in METHODS.values())


HARMLESS = frozenset({
    "len", "sum", "min", "max", "sorted", "print", "str", "range", "list", "set", "abs", "any", "all",
})  # fmt: skip
"""Builtins that read what they are given and do not keep it."""


def _changes(node: ast.AST, sources: set[str], index: ast.expr | None) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in lazy.MUTATORS:
        return ast.dump(node.func.value) in sources
    if isinstance(node, ast.AugAssign):
        return ast.dump(_read(node.target)) in sources
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return ast.dump(_read(node.value)) in sources and not _is_at(node, index)
    return False


def _sources(node: ast.Call) -> set[str]:
    """What a lazy call reads from, through other lazy calls and views of a dict too."""
    found: set[str] = set()
    for argument in node.args:
        plain = lazy.plain(argument)
        if isinstance(plain, ast.Call):
            found |= _sources(plain)
            if isinstance(plain.func, ast.Attribute):
                found.add(ast.dump(_read(plain.func.value)))
        else:
            found.add(ast.dump(_read(plain)))
    return found


def _read(node: ast.expr) -> ast.expr:
    """`node` as it looks where it is read."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    return node
