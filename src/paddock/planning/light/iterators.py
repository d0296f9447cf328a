"""`itertools`: lazy in Monty too, so what they give may be kept and used up bit by bit."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import calls, lazy, loops, total
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import INT, NONE, NOTHING, Kinds, Thing

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def itertool(a: Analysis, node: ast.Call, name: str) -> Kinds:
    """What `itertools.name(…)` gives."""
    keywords = {str(keyword.arg): a.value(keyword.value) for keyword in node.keywords}
    made = a.holding(node, "iterator", _items(a, node, name, keywords), tag=name)
    if name in ("count", "cycle") or (name == "repeat" and len(node.args) == 1) or _runs_on(a, node, name):
        for kind in made:
            if isinstance(kind, Thing):
                kind.name = ENDLESS
    return made


ENDLESS = "endless"


def _runs_on(a: Analysis, node: ast.Call, name: str) -> bool:
    if name not in ("chain", "accumulate", "dropwhile", "starmap", "pairwise"):
        return False
    return any(is_endless(a, argument) for argument in node.args if not isinstance(argument, ast.Starred))


def is_endless(a: Analysis, node: ast.expr) -> bool:
    """Whether `node` may be an iterator without end."""
    if lazy.is_lazy(a, node):
        return False
    return any(isinstance(kind, Thing) and kind.name == ENDLESS for kind in a.value(node))


def _items(a: Analysis, node: ast.Call, name: str, keywords: dict[str, Kinds]) -> Kinds:  # noqa: PLR0912  one case per function
    arguments = node.args
    if name == "count":
        for argument in arguments:
            if not a.value(argument) <= INT:
                raise Refused("counts in something other than whole numbers", node)
        return INT
    if name == "repeat":
        for argument in arguments[1:]:
            a.value(argument)
        return a.value(arguments[0])
    if name in ("takewhile", "dropwhile", "starmap"):
        items = _source(a, arguments[1])
        if name == "starmap":
            inner = lazy.iterate(a, items, node)
            return calls.call_kinds(a, a.value(arguments[0]), [inner, inner], node)
        calls.call_kinds(a, a.value(arguments[0]), [items], node)
        return items
    if name == "groupby":
        return _groups(a, node, keywords)
    if name == "zip_longest":
        filler = keywords.get("fillvalue", NONE)
        return lazy.pair(a, node, [_source(a, argument) | filler for argument in arguments])
    if name == "accumulate":
        items = _source(a, arguments[0]) | keywords.get("initial", NOTHING)
        if len(arguments) > 1:
            items |= calls.call_kinds(a, a.value(arguments[1]), [items, items], node)
        return items
    if name in ("chain", "cycle", "islice"):
        sources = arguments if name == "chain" else arguments[:1]
        for argument in arguments[len(sources) :]:
            a.value(argument)
        return frozenset().union(NOTHING, *(_source(a, argument) for argument in sources))
    pools = arguments if name == "product" else arguments[:1]
    for argument in arguments[len(pools) :]:
        a.value(argument)
    items = frozenset().union(NOTHING, *(_source(a, argument) for argument in pools))
    return a.holding(node, "tuple", items, tag=name)


def _groups(a: Analysis, node: ast.Call, keywords: dict[str, Kinds]) -> Kinds:
    items = _source(a, node.args[0])
    key = a.value(node.args[1]) if len(node.args) > 1 else keywords.get("key", NOTHING)
    keys = calls.call_kinds(a, key, [items], node) if key else items
    group = a.holding(node, "iterator", items, tag="group")
    return lazy.pair(a, node, [keys, group])


def _source(a: Analysis, argument: ast.expr) -> Kinds:
    """The items of one argument. One that Monty makes at once must not be seen at work."""
    if isinstance(argument, ast.Starred):
        return lazy.iterate(a, lazy.consume(a, argument.value), argument)
    if lazy.is_lazy(a, argument) and any(a.changes.get(id(thing)) for thing in loops.source_things(a, argument)):
        raise Refused("feeds itertools with a copy of what changes", argument)
    if not total.is_plain(a, argument):
        raise Refused("feeds itertools with a lazy value that reads what may change", argument)
    return lazy.consume(a, argument, whole=False)
