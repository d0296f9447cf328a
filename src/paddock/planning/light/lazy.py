"""Iteration. In Monty, generator expressions and what `map`, `filter`, `zip`, `enumerate` and `reversed` give are lists
made at once; in CPython they are made while they are used. Both agree where the whole is used at once, in one place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import calls, containers, iterators, keys, objects, signatures, total
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, INT, NOTHING, ORDERLESS, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

LAZY = frozenset({"map", "filter", "zip", "enumerate", "reversed"})
MUTATORS = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard", "popleft", "appendleft", "extendleft", "rotate",
})  # fmt: skip
"""Methods that change what they are called on."""

ITEMS = {"any": ANY, "str": STR, "bytes": INT, "text file": STR}


def iterate(a: Analysis, kinds: Kinds, node: ast.AST, *, ordered: bool = True) -> Kinds:
    """What iterating over values of these kinds gives."""
    result: set[Kind] = set()
    for kind in in_order(kinds):
        if isinstance(kind, Thing):
            result |= _items(a, kind, node, ordered=ordered)
        elif kind in ITEMS:
            result |= ITEMS[kind]
        else:
            a.diverges(node, "TypeError", "iterating")
    return frozenset(result)


def _items(a: Analysis, thing: Thing, node: ast.AST, *, ordered: bool) -> Kinds | set[Kind]:
    if thing.shape in ORDERLESS:
        if ordered:
            raise Refused("depends on the order of a set", node)
        return thing.items
    if thing.shape in ("list", "tuple", "deque", "view", "range", "iterator"):
        return thing.held()
    if thing.shape in ("dict", "Counter", "defaultdict"):
        keys.read(a, thing, node)
        return thing.keys
    if thing.shape == "record value":
        return frozenset().union(*thing.fields.values())
    if thing.shape == "instance":
        return _own_items(a, thing, node)
    if thing.shape in ("function", "class", "builtin"):
        a.diverges(node, "TypeError", "iterating")
        return NOTHING
    raise Refused(f"iterates over a {thing.shape}", node)


def _own_items(a: Analysis, instance: Thing, node: ast.AST) -> Kinds:
    """What an object of the script's own gives through `__iter__` and `__next__`."""
    result: set[Kind] = set()
    for kind in in_order(objects.special_method(a, node, instance, "__iter__", [])):
        if isinstance(kind, Thing) and kind.shape == "instance":
            result |= objects.special_method(a, node, kind, "__next__", [])
        else:
            result |= iterate(a, frozenset({kind}), node)
    return frozenset(result)


def consume(a: Analysis, node: ast.expr, *, ordered: bool = True, whole: bool = True) -> Kinds:
    """The items of `node`, which is used up here and now: the one place where a lazy value may stand.

    `whole`: all of it is used before anything else happens. Otherwise what Monty makes at once must be total.
    """
    if not ordered and isinstance(node, ast.Call) and _is_copy(a, node):
        return consume(a, node.args[0], ordered=False)
    if isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.ListComp) and not ordered):
        items = _generated(a, node, ordered=ordered)
    else:
        name = lazy_name(a, node)
        if name is None or not isinstance(node, ast.Call):
            return iterate(a, a.value(node), node, ordered=ordered)
        items = _lazy_items(a, node, name, ordered=ordered, whole=whole)
    if not whole:
        _check_no_iterators(a, node)
        if not total.lazy_is_total(a, node):
            raise Refused("uses a lazy value bit by bit that may fail or be seen at work", node)
    return items


def _generated(a: Analysis, node: ast.GeneratorExp | ast.ListComp, *, ordered: bool) -> Kinds:
    before = a.scope
    containers.comprehension(a, node, ordered=ordered)
    items = a.value(node.elt)
    a.scope = before
    containers.check_interleaved(a, node)
    if not ordered and not total.comprehension_is_total(a, node):
        # In which order elements are made can be seen after all.
        containers.comprehension(a, node)
        a.scope = before
    return items


def _check_no_iterators(a: Analysis, node: ast.expr) -> None:
    """An iterator that Monty reads ahead is further on than in CPython."""
    if isinstance(node, ast.GeneratorExp):
        sources = [node.generators[0].iter]
    elif isinstance(node, ast.Call):
        sources = [plain(argument) for argument in node.args]
    else:
        return
    for source in sources:
        if is_lazy(a, source) or _is_itertool(a, source):
            _check_no_iterators(a, source)
        elif any(shape_of(kind) in ("iterator", "instance", "text file") for kind in a.value(source)):
            raise Refused("reads ahead of an iterator", node)


def _is_itertool(a: Analysis, node: ast.expr) -> bool:
    """Whether `node` makes an iterator here and now, which nobody else can see."""
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and not _is_module_name(a, node.func)):
        return False
    return any(isinstance(kind, Thing) and kind.name.startswith("itertools.") for kind in a.value(node.func))


def _is_module_name(a: Analysis, node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and _is_module(a, node.value)


def _is_copy(a: Analysis, node: ast.Call) -> bool:
    """`list(x)` or `tuple(x)`: where order does not matter, as good as x."""
    if not isinstance(node.func, ast.Name) or node.func.id not in ("list", "tuple"):
        return False
    return a.scope.find(node.func.id) is None and len(node.args) == 1 and not node.keywords


def is_lazy(a: Analysis, node: ast.expr) -> bool:
    """Whether `node` makes what Monty makes at once and CPython bit by bit."""
    return isinstance(node, ast.GeneratorExp) or lazy_name(a, node) is not None


def lazy_name(a: Analysis, node: ast.expr) -> str | None:
    """The name of the lazy builtin that `node` calls, if it is one."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        kinds = set(a.lookup(node.func.id, node)) if node.func.id in LAZY else a.scope.find(node.func.id)
        if kinds is None:
            return None
    elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        kinds = set(a.value(node.func)) if _is_module(a, node.func.value) else set()
    else:
        return None
    names = {kind.name for kind in kinds if isinstance(kind, Thing) and kind.shape == "builtin"}
    found = names & LAZY
    return found.pop() if len(found) == 1 else None


def _is_module(a: Analysis, node: ast.Name) -> bool:
    found = a.scope.find(node.id)
    return bool(found) and all(isinstance(kind, Thing) and kind.shape == "module" for kind in found or ())


def _lazy_items(a: Analysis, node: ast.Call, name: str, *, ordered: bool = True, whole: bool = True) -> Kinds:
    """The items that a call of a lazy builtin gives."""
    signature = signatures.of_name(name)
    signatures.check(node, signature, name)
    arguments = node.args
    if name != "zip" and any(iterators.is_endless(a, argument) for argument in arguments):
        raise Refused(f"uses {name}() on something without end", node)
    if name == "enumerate":
        for keyword in node.keywords:
            a.value(keyword.value)
        if len(arguments) > 1:
            a.value(arguments[1])
        return pair(a, node, [INT, consume(a, arguments[0], whole=whole)])
    if name == "zip":
        _check_no_iterators(a, node)
        if node.keywords and not whole:
            raise Refused("uses zip(strict=…) bit by bit", node)
        columns = [consume(a, plain(argument), whole=False) for argument in arguments]
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return a.holding(node, "tuple", frozenset().union(*(iterate(a, c, node) for c in columns)), tag="zip")
        return pair(a, node, columns)
    if name == "reversed":
        kinds = a.value(arguments[0])
        if any(shape_of(kind) in (*ORDERLESS, "iterator", "instance") for kind in kinds):
            raise Refused("reverses something that is not a sequence", node)
        return iterate(a, kinds, node)
    return _called_on_each(a, node, name, ordered=ordered)


def _called_on_each(a: Analysis, node: ast.Call, name: str, *, ordered: bool) -> Kinds:
    """What `map` and `filter` give."""
    function, sources = node.args[0], node.args[1:]
    columns = [consume(a, source, ordered=False, whole=False) for source in sources]
    if name == "map":
        result = calls.call_kinds(a, a.value(function), columns, node)
    else:
        result = columns[0]
        if not (isinstance(function, ast.Constant) and function.value is None):
            calls.call_kinds(a, a.value(function), columns, node)
    if ordered or not total.function_is_total(a, function, columns):
        for source in sources:
            consume(a, source, whole=False)  # the order of what it is called on can be seen
            if not total.is_plain(a, source) and not total.function_is_total(a, function, columns):
                raise Refused(f"calls {name}() on a lazy value whose making can be seen", node)
    return result


def plain(argument: ast.expr) -> ast.expr:
    """`x`, of `x` or `*x`."""
    return argument.value if isinstance(argument, ast.Starred) else argument


def pair(a: Analysis, node: ast.AST, columns: list[Kinds]) -> Kinds:
    """A tuple made at `node`, with values of these kinds in its places."""
    made = a.thing(node, "tuple", "pair")
    for position, kinds in enumerate(columns):
        a.flow(kinds, made.fields.setdefault(position, set()))
    return frozenset({made})
