"""How deep a script can go: recursions, and values that hold themselves. Both sides give up, at other depths.

Monty has a thousand calls, and fewer than a hundred where a builtin calls back into the script. CPython has somewhat
less than a thousand, of which a comprehension takes one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import exceptions, lazy
from paddock.planning.light.facts import walk
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import Kind, Kinds, Thing, in_order

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

CALLED_BACK = 60
NESTED = 200
WIDE = 300
"""The least number in a script from which on a depth may matter: of callbacks, of values, of comprehensions."""
LIMIT = frozenset(range(900, 1100))
"""Depths of plain calls that one side may reach and the other not."""


def check_nested(a: Analysis, kinds: Kinds | set[Kind], node: ast.AST, what: str) -> None:
    """Refuse to show, copy or compare a value that may hold itself many times over."""
    least = CALLED_BACK if any(isinstance(kind, Thing) and kind.shape == "instance" for kind in kinds) else NESTED
    if a.facts.farthest >= least and _holds_itself(kinds):
        raise Refused(f"{what} a value that may be nested hundreds of times", node)


def _holds_itself(kinds: Kinds | set[Kind]) -> bool:
    """Whether a value of one of these kinds may be found inside itself."""
    done: set[int] = set()
    path: set[int] = set()

    def enter(kind: Kind) -> bool:
        if not isinstance(kind, Thing) or id(kind) in done:
            return isinstance(kind, Thing) and id(kind) in path
        done.add(id(kind))
        path.add(id(kind))
        inside = [*kind.held(), *kind.keys]
        if kind.shape == "instance":
            inside += [one for kinds in kind.fields.values() for one in kinds]
        found = any(enter(one) for one in inside)
        path.discard(id(kind))
        return found

    return any(enter(kind) for kind in in_order(kinds))


def note_call(a: Analysis, definition: ast.AST, way: str) -> None:
    """Remember that the present function calls `definition`: itself ("call"), or by a builtin ("back")."""
    caller = _function(a)
    if caller is not None and way:
        wide = way == "call" and a.scope.kind == "comprehension"
        a.calls.setdefault(id(caller), {}).setdefault(id(definition), set()).add("wide" if wide else way)
        a.definitions[id(definition)] = definition


def _function(a: Analysis) -> ast.AST | None:
    scope = a.scope
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope.thing.node if scope.thing is not None else None


def check_recursion(a: Analysis) -> None:
    """Refuse recursions whose depth may matter, once all calls are known."""
    for start in a.calls:
        ways = _ways_back(a, start)
        if ways is None:
            continue
        node = a.definitions.get(start)
        if node is None:
            continue
        far = a.facts.farthest
        if ("back" in ways and far >= CALLED_BACK) or ("wide" in ways and far >= WIDE) or a.facts.counted & LIMIT:
            raise Refused("has a recursion that may be too deep for one side", node)
        _check_caught(a, node)


def _ways_back(a: Analysis, start: int) -> set[str] | None:
    """How the calls are made that lead from a function to itself; None where none do."""
    forward = _reach(a.calls, start)
    if start not in forward:
        return None
    circle = {one for one in forward if start in _reach(a.calls, one)} | {start}
    return {way for one in circle for other, ways in a.calls.get(one, {}).items() if other in circle for way in ways}


def _reach(calls: dict[int, dict[int, set[str]]], start: int) -> set[int]:
    found: set[int] = set()
    waiting = list(calls.get(start, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += calls.get(one, ())
    return found


def _check_caught(a: Analysis, node: ast.AST) -> None:
    """Where the end of a recursion is caught, nothing may tell how deep it went."""
    thing = a.reached.get(id(node))
    caught = thing.scope.catches if thing is not None and thing.scope is not None else set()
    ends = [seen for name, seen in caught if exceptions.catches(name, "RecursionError")]
    if not ends:
        return
    if any(ends) and not _descends(node):
        raise Refused("looks at the text of an error that may be the end of a recursion", node)
    if any(_leaves_a_trace(inner) for inner in walk(node)[0]) and not (a.facts.farthest < WIDE and _descends(node)):
        raise Refused("catches the end of a recursion that can be seen at work", node)


def _descends(node: ast.AST) -> bool:
    """Whether each call of a function to itself is for a part of what it was given, or for less down to a bound."""
    nodes = walk(node)[0]
    name = getattr(node, "name", "")
    bounded = any(
        isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for inner in nodes
        if isinstance(inner, ast.Compare)
        for op in inner.ops
    )
    loops = [inner.target for inner in nodes if isinstance(inner, ast.For | ast.comprehension)]
    parts = {inner.id for target in loops for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    calls = [inner for inner in nodes if isinstance(inner, ast.Call) and _name(inner.func) == name]
    return bool(calls) and all(_gives_less(call, parts, bounded=bounded) for call in calls)


def _gives_less(call: ast.Call, parts: set[str], *, bounded: bool) -> bool:
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    for given in (*owner, *call.args):
        if isinstance(given, ast.Attribute | ast.Subscript) or (isinstance(given, ast.Name) and given.id in parts):
            return True
        less = isinstance(given, ast.BinOp) and isinstance(given.op, ast.Sub | ast.FloorDiv)
        if less and bounded:
            return True
    return False


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _leaves_a_trace(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "print" or getattr(node.func, "attr", "") in lazy.MUTATORS
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Global | ast.Nonlocal | ast.Try)
