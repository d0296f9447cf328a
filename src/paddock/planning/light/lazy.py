"""Iteration. In Monty, generator expressions and what `map`, `filter`, `zip`, `enumerate` and `reversed` give are lists
made at once; in CPython they are made while they are used. Both agree where the whole is used at once, in one place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import calls, expressions, iterators, total
from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import METHODS
from paddock.planning.light.things import INT, ORDERLESS, STR, Kind, Kinds, Thing, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

LAZY = frozenset({"map", "filter", "zip", "enumerate", "reversed"})
MUTATORS = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard", "popleft", "appendleft",
})  # fmt: skip


def iterate(a: Analysis, kinds: Kinds, node: ast.AST, *, ordered: bool = True) -> Kinds:
    """What iterating over values of these kinds gives."""
    result: set[Kind] = set()
    for kind in kinds:
        if isinstance(kind, str):
            if kind == "any":
                result.add("any")
            elif kind == "str":
                result |= STR
            elif kind == "bytes":
                result |= INT
            elif kind == "text file":
                result |= STR
            else:
                a.diverges(node, "TypeError", "iterating")
        elif kind.shape in ORDERLESS:
            if ordered:
                raise Refused("depends on the order of a set", node)
            result |= kind.items
        elif kind.shape in ("list", "tuple", "deque", "view", "range"):
            result |= kind.held()
        elif kind.shape in ("dict", "Counter", "defaultdict"):
            result |= kind.keys
        elif kind.shape == "record value":
            result = result.union(*kind.fields.values())
        elif kind.shape == "iterator":
            result |= kind.items
        elif kind.shape == "instance":
            result |= _own_items(a, kind, node)
        elif kind.shape in ("function", "class", "builtin"):
            a.diverges(node, "TypeError", "iterating")
        else:
            raise Refused(f"iterates over a {kind.shape}", node)
    return frozenset(result)


def _own_items(a: Analysis, instance: Thing, node: ast.AST) -> Kinds:
    """What an object of the script's own gives through `__iter__` and `__next__`."""
    result: set[Kind] = set()
    for kind in calls.method(a, node, instance, "__iter__", []):
        if isinstance(kind, Thing) and kind.shape == "instance":
            result |= calls.method(a, node, kind, "__next__", [])
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
        items = lazy_items(a, node, name, ordered=ordered, whole=whole)
    if not whole:
        _check_no_iterators(a, node)
        if not total.lazy_is_total(a, node):
            raise Refused("uses a lazy value bit by bit that may fail or be seen at work", node)
    return items


def _generated(a: Analysis, node: ast.GeneratorExp | ast.ListComp, *, ordered: bool) -> Kinds:
    before = a.scope
    expressions.comprehension(a, node, ordered=ordered)
    items = a.value(node.elt)
    a.scope = before
    if not ordered and not total.comprehension_is_total(a, node):
        # In which order elements are made can be seen after all.
        expressions.comprehension(a, node)
        a.scope = before
    return items


def _check_no_iterators(a: Analysis, node: ast.expr) -> None:
    """An iterator that Monty reads ahead is further on than in CPython."""
    if isinstance(node, ast.GeneratorExp):
        sources = [node.generators[0].iter]
    elif isinstance(node, ast.Call):
        sources = [_plain(argument) for argument in node.args]
    else:
        return
    for source in sources:
        if is_lazy(a, source):
            _check_no_iterators(a, source)
        elif _is_itertool(a, source):
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


def lazy_items(a: Analysis, node: ast.Call, name: str, *, ordered: bool = True, whole: bool = True) -> Kinds:
    """The items that a call of a lazy builtin gives."""
    signature = calls.signature_of(name)
    calls.check_arguments(node, signature, name)
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
        columns = [consume(a, _plain(argument), whole=False) for argument in arguments]
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return a.holding(node, "tuple", frozenset().union(*(iterate(a, c, node) for c in columns)), tag="zip")
        return pair(a, node, columns)
    if name == "reversed":
        kinds = a.value(arguments[0])
        if any(shape_of(kind) in (*ORDERLESS, "lazy", "iterator", "instance") for kind in kinds):
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
    return result


def _plain(argument: ast.expr) -> ast.expr:
    return argument.value if isinstance(argument, ast.Starred) else argument


def pair(a: Analysis, node: ast.AST, columns: list[Kinds]) -> Kinds:
    made = a.thing(node, "tuple", "pair")
    for position, kinds in enumerate(columns):
        a.flow(kinds, made.fields.setdefault(position, set()))
    return frozenset({made})


def check_loop(a: Analysis, node: ast.For) -> None:
    """A loop over `enumerate(x)`, `zip(x, …)` or `reversed(x)` sees a copy of x in Monty: its body must not change x."""
    name = lazy_name(a, node.iter)
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
            if isinstance(inner, ast.Call) and not (isinstance(inner.func, ast.Name) and inner.func.id in HARMLESS):
                if any(ast.dump(_read(_plain(argument))) in sources for argument in inner.args):
                    raise Refused(f"hands on what it loops over with {name}()", inner)


def _check_aliases(a: Analysis, node: ast.For, name: str, index: ast.expr | None) -> None:
    """The same under another name: what the loop runs over is changed in its body, or by a function called there."""
    last = node.body[-1].end_lineno or node.lineno
    inside = [inner for part in node.body for inner in ast.walk(part)]
    calls_own = any(_may_run_own_code(a, inner) for inner in inside)
    at_index = {inner.lineno for inner in inside if isinstance(inner, ast.Subscript) and _is_at(inner, index)}
    for thing in _source_things(a, node.iter):
        for line, scope in a.changes.get(id(thing), ()):
            within = node.body[0].lineno <= line <= last
            if (within and line not in at_index) or (calls_own and not within and scope != id(a.scope)):
                raise Refused(f"changes what it loops over with {name}()", node)


def _is_at(node: ast.Subscript, index: ast.expr | None) -> bool:
    return index is not None and ast.dump(_read(node.slice)) == ast.dump(_read(index))


def _source_things(a: Analysis, node: ast.expr) -> list[Thing]:
    found: list[Thing] = []
    if isinstance(node, ast.Call):
        for argument in node.args:
            plain = _plain(argument)
            if is_lazy(a, plain):
                found += _source_things(a, plain)
            elif not isinstance(plain, ast.Call):
                found += [kind for kind in a.value(plain) if isinstance(kind, Thing)]
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


HARMLESS = frozenset(
    {"len", "sum", "min", "max", "sorted", "print", "str", "range", "list", "set", "abs", "any", "all"}
)


def _changes(node: ast.AST, sources: set[str], index: ast.expr | None) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        return ast.dump(node.func.value) in sources
    if isinstance(node, ast.AugAssign):
        return ast.dump(_read(node.target)) in sources
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        at_index = index is not None and ast.dump(_read(node.slice)) == ast.dump(_read(index))
        return ast.dump(_read(node.value)) in sources and not at_index
    return False


def _sources(node: ast.Call) -> set[str]:
    """What a lazy call reads from, through other lazy calls and views of a dict too."""
    found: set[str] = set()
    for argument in node.args:
        plain = _plain(argument)
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
