"""Iteration. In Monty, generator expressions and what `map`, `filter`, `zip`, `enumerate` and `reversed` give are lists
made at once; in CPython they are made while they are used. Both agree where the whole is used at once, in one place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import calls, expressions, iterators
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import INT, ORDERLESS, STR, Kind, Kinds, Thing, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

LAZY = frozenset({"map", "filter", "zip", "enumerate", "reversed"})
HARMLESS_CALLS = frozenset(
    {
        "str",
        "len",
        "abs",
        "bool",
        "isinstance",
        "repr",
        "range",
        "min",
        "max",
        "ord",
        "tuple",
        "sum",
        "type",
        "bin",
        "round",
    }
)
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


def consume(
    a: Analysis,
    node: ast.expr,
    *,
    ordered: bool = True,
    loop: ast.For | None = None,
    inside: ast.expr | None = None,
) -> Kinds:
    """The items of `node`, which is used up here and now: the one place where a lazy value may stand."""
    if isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.ListComp) and not ordered):
        if loop is not None and not is_quiet(node):
            raise Refused("loops over a generator expression", node)
        before = a.scope
        expressions.comprehension(a, node, ordered=ordered)
        items = a.value(node.elt)
        a.scope = before
        return items
    if not ordered and isinstance(node, ast.Call) and _is_copy(a, node):
        return consume(a, node.args[0], ordered=False)
    name = lazy_name(a, node)
    if name is not None and isinstance(node, ast.Call):
        if (loop is not None or inside is not None) and name in ("map", "filter") and not is_quiet(node):
            raise Refused(f"loops over {name}() with a function that may be seen at work", node)
        return lazy_items(a, node, name, ordered=ordered)
    return iterate(a, a.value(node), node, ordered=ordered)


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
        kinds = a.scope.find(node.func.id)
        if kinds is None:
            return node.func.id if node.func.id in LAZY else None
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


def lazy_items(a: Analysis, node: ast.Call, name: str, *, ordered: bool = True) -> Kinds:
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
        return pair(a, node, [INT, consume(a, arguments[0])])
    if name == "zip":
        columns = [consume(a, _plain(argument)) for argument in arguments]
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return a.holding(node, "tuple", frozenset().union(*(iterate(a, c, node) for c in columns)), tag="zip")
        return pair(a, node, columns)
    if name == "reversed":
        kinds = a.value(arguments[0])
        if any(shape_of(kind) in (*ORDERLESS, "lazy", "iterator", "instance") for kind in kinds):
            raise Refused("reverses something that is not a sequence", node)
        return iterate(a, kinds, node)
    if name == "map":
        columns = [consume(a, argument, ordered=ordered) for argument in arguments[1:]]
        return calls.call_kinds(a, a.value(arguments[0]), columns, node)
    items = consume(a, arguments[1], ordered=ordered)
    if not (isinstance(arguments[0], ast.Constant) and arguments[0].value is None):
        calls.call_kinds(a, a.value(arguments[0]), [items], node)
    return items


def _plain(argument: ast.expr) -> ast.expr:
    return argument.value if isinstance(argument, ast.Starred) else argument


def pair(a: Analysis, node: ast.AST, columns: list[Kinds]) -> Kinds:
    made = a.thing(node, "tuple", "pair")
    for position, kinds in enumerate(columns):
        a.flow(kinds, made.fields.setdefault(position, set()))
    return frozenset({made})


def check_short_circuit(a: Analysis, node: ast.expr, name: str) -> None:
    """`any` and `all` stop early in CPython; Monty has then evaluated the rest as well."""
    if isinstance(node, ast.GeneratorExp) and not is_quiet(node, a):
        raise Refused(f"uses {name}() over a generator expression that may raise or be seen at work", node)
    if lazy_name(a, node) in ("map", "filter") and not is_quiet(node):
        raise Refused(f"uses {name}() over map() or filter()", node)


def is_quiet(node: ast.AST, a: Analysis | None = None, depth: int = 0) -> bool:
    """Whether evaluating more of this than CPython would cannot be seen: no effect, and nothing that usually raises."""
    parts = [node]
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        # What the first loop runs over is evaluated at once by both.
        first = node.generators[0]
        parts = [node.elt, *first.ifs, *node.generators[1:]]
        if isinstance(first.iter, ast.Call) and isinstance(first.iter.func, ast.Name) and first.iter.func.id in LAZY:
            parts.append(first.iter)
    lengths = {
        ast.dump(inner.args[0])
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "len" and inner.args
    }
    return all(_quiet_node(inner, lengths, a, depth) for part in parts for inner in ast.walk(part))


def _quiet_node(node: ast.AST, lengths: set[str], a: Analysis | None, depth: int) -> bool:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            name = node.func.id
            if name in HARMLESS_CALLS or name in LAZY or name in ("int", "float", "sqrt", "isqrt", "set", "any", "all"):
                return True
            return a is not None and _is_pure(a, name, depth)
        return isinstance(node.func, ast.Attribute) and node.func.attr in QUIET_METHODS
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        return isinstance(node.right, ast.Constant | ast.Name)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice | ast.Constant) or ast.dump(node.value) in lengths
    return not isinstance(node, ast.Await | ast.NamedExpr | ast.Lambda)


def _is_pure(a: Analysis, name: str, depth: int) -> bool:
    """Whether `name` is one function of the script's own that only computes."""
    found = a.scope.find(name)
    functions = [kind.node for kind in found or () if isinstance(kind, Thing) and kind.shape == "function"]
    if depth > 2 or len(functions) != 1 or len(found or ()) != 1 or not isinstance(functions[0], ast.FunctionDef):
        return False
    forbidden = (ast.Global, ast.Nonlocal, ast.Raise, ast.Assert, ast.Try, ast.Import, ast.ImportFrom)
    for inner in ast.walk(functions[0]):
        if isinstance(inner, forbidden):
            return False
        if isinstance(inner, ast.Attribute | ast.Subscript) and isinstance(inner.ctx, ast.Store):
            return False
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name:
            continue
        if isinstance(inner, ast.Call | ast.Subscript | ast.BinOp) and not _quiet_node(inner, set(), a, depth + 1):
            return False
    return True


QUIET_METHODS = frozenset({
    "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric", "startswith", "endswith", "lower",
    "upper", "strip", "get", "items", "keys", "values", "split", "count", "find", "sqrt", "isqrt", "group",
})  # fmt: skip


def is_orderless(loop: ast.For) -> bool:
    """Whether a loop comes to the same in any order: it only counts, adds whole numbers to sets, or answers yes or no."""
    return not loop.orelse and all(_orderless_statement(statement) for statement in loop.body)


def _orderless_statement(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return is_quiet(node.test) and all(_orderless_statement(inner) for inner in (*node.body, *node.orelse))
    if isinstance(node, ast.AugAssign):
        one = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
        return isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add) and one
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call = node.value
        return call.func.attr in ("add", "discard") and all(is_quiet(argument) for argument in call.args)  # type: ignore[attr-defined]
    if isinstance(node, ast.Return):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Continue | ast.Pass)


def check_loop(a: Analysis, node: ast.For) -> None:
    """A loop over `enumerate(x)`, `zip(x, …)` or `reversed(x)` sees a copy of x in Monty: refuse if its body changes x."""
    name = lazy_name(a, node.iter)
    if name is None or not isinstance(node.iter, ast.Call):
        return
    sources = _sources(node.iter)
    index = node.target.elts[0] if name == "enumerate" and isinstance(node.target, ast.Tuple) else None
    for statement in node.body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in MUTATORS:
                if ast.dump(inner.func.value) in sources:
                    raise Refused(f"changes what it loops over with {name}()", inner)
            elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
                at_index = index is not None and ast.dump(_read(inner.slice)) == ast.dump(_read(index))
                if ast.dump(_read(inner.value)) in sources and not at_index:
                    raise Refused(f"changes what it loops over with {name}()", inner)


def _sources(node: ast.Call) -> set[str]:
    """What a lazy call reads from, through other lazy calls too."""
    found: set[str] = set()
    for argument in node.args:
        plain = _plain(argument)
        found |= _sources(plain) if isinstance(plain, ast.Call) else {ast.dump(_read(plain))}
    return found


def _read(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    return node
