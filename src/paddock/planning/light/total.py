"""Expressions that cannot fail and have no effect, so that nobody can tell when, or how often, they are evaluated.

What Monty makes at once and CPython bit by bit comes to the same only where every bit is of this kind.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from paddock.planning.light import lazy
from paddock.planning.light.things import INT, NUMBERS, STR, WHOLE, Kind, Kinds, Thing, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

Loops = Mapping[str, ast.expr]  # the variables of comprehensions, with what they run over
NO_LOOPS: Loops = {}

SIZED = frozenset({"str", "list", "tuple", "dict", "set", "frozenset", "range", "view", "Counter", "deque"})
"""What has a length, can be looked into and be iterated over."""
SCALARS = NUMBERS | {"str", "none"}
TEXT_METHODS = frozenset({
    "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric", "startswith", "endswith", "lower",
    "upper", "strip", "lstrip", "rstrip", "title", "count", "find", "replace",
})  # fmt: skip
DICT_METHODS = frozenset({"get", "items", "keys", "values"})


def comprehension_is_total(a: Analysis, node: ast.expr, loops: Loops = NO_LOOPS) -> bool:
    """Whether the elements and conditions of a comprehension are total; what its first loop runs over is not asked."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        return False
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    scope = a.scopes.get(id(node))
    if scope is None:
        return False
    inner = dict(loops)
    for generator in node.generators:
        if isinstance(generator.target, ast.Name):
            inner[generator.target.id] = generator.iter
        elif not _gives_pairs(generator):
            return False
    before, a.scope = a.scope, scope
    try:
        parts = [*results, *(condition for generator in node.generators for condition in generator.ifs)]
        rest = [generator.iter for generator in node.generators[1:]]
        if not all(shape_of(kind) in SIZED for iterable in rest for kind in a.value(iterable)):
            return False
        return all(is_total(a, part, inner) for part in (*parts, *rest))
    finally:
        a.scope = before


def _gives_pairs(generator: ast.comprehension) -> bool:
    """Whether `for x, y in …` cannot fail: the items are tuples of that length, by the way they are made."""
    source = generator.iter
    if not isinstance(generator.target, ast.Tuple) or not all(isinstance(e, ast.Name) for e in generator.target.elts):
        return False
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items":
        return len(generator.target.elts) == 2
    name = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
    if name in ("enumerate", "zip", "pairwise") and isinstance(source, ast.Call):
        wanted = len(source.args) if name == "zip" else 2
        return len(generator.target.elts) == wanted and not any(isinstance(e, ast.Starred) for e in source.args)
    return False


def lazy_is_total(a: Analysis, node: ast.expr) -> bool:
    """Whether making a lazy value at once cannot be told from making it bit by bit."""
    if isinstance(node, ast.GeneratorExp):
        first = node.generators[0].iter
        if lazy.is_lazy(a, first) and not lazy_is_total(a, first):
            return False
        return comprehension_is_total(a, node)
    name = lazy.lazy_name(a, node)
    if name is None or not isinstance(node, ast.Call):
        return True
    sources = node.args[1:] if name in ("map", "filter") else node.args
    plain = [argument.value if isinstance(argument, ast.Starred) else argument for argument in sources]
    if not all(lazy_is_total(a, argument) for argument in plain if lazy.is_lazy(a, argument)):
        return False
    if name not in ("map", "filter"):
        return True
    items = [
        lazy.iterate(a, a.value(argument), argument, ordered=False)
        for argument in plain
        if not lazy.is_lazy(a, argument)
    ]
    if isinstance(node.args[0], ast.Name) and node.args[0].id == "ord" and len(plain) == 1:
        return a.scope.find("ord") is None and _gives_characters(a, plain[0])
    return len(items) == len(plain) and function_is_total(a, node.args[0], items)


def is_closed(a: Analysis, node: ast.expr) -> bool:
    """Whether the elements of a comprehension read nothing but its own variables."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        return False
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    source = {id(inner) for inner in ast.walk(node.generators[0].iter)}
    read = {name.id for name in names if isinstance(name.ctx, ast.Load) and id(name) not in source}
    return all(name in own or a.scope.find(name) is None for name in read)


def is_plain(a: Analysis, node: ast.expr) -> bool:
    """Whether a lazy value reads nothing but what it runs over, so that code beside it cannot change what it gives."""
    if isinstance(node, ast.GeneratorExp):
        return False
    name = lazy.lazy_name(a, node)
    if name is None or not isinstance(node, ast.Call):
        return True
    if name in ("map", "filter"):
        function = node.args[0]
        if not isinstance(function, ast.Constant | ast.Name) or (
            isinstance(function, ast.Name) and a.scope.find(function.id) is not None
        ):
            return False
    return all(is_plain(a, lazy.plain(argument)) for argument in node.args)


def function_is_total(a: Analysis, function: ast.expr, arguments: list[Kinds]) -> bool:
    """Whether calling `function` with values of these kinds is total."""
    if isinstance(function, ast.Constant):
        return function.value is None
    if isinstance(function, ast.Lambda):
        thing = a.things.get((id(function), "function"))
        if thing is None or thing.scope is None:
            return False
        before, a.scope = a.scope, thing.scope
        try:
            return is_total(a, function.body)
        finally:
            a.scope = before
    if isinstance(function, ast.Name) and a.scope.find(function.id) is None and len(arguments) == 1:
        return _builtin_is_total(function.id, arguments[0])
    return False


def _builtin_is_total(name: str, kinds: Kinds) -> bool:
    if name in ("str", "bool", "repr"):
        return kinds <= SCALARS
    if name in ("int", "float", "round"):
        return kinds <= WHOLE
    if name == "abs":
        return kinds <= NUMBERS
    if name == "len":
        return all(shape_of(kind) in SIZED for kind in kinds)
    return False


def _gives_characters(a: Analysis, source: ast.expr) -> bool:
    return isinstance(source, ast.Name | ast.Constant | ast.Attribute) and a.value(source) <= STR


def is_total(a: Analysis, node: ast.expr, loops: Loops = NO_LOOPS) -> bool:
    """Whether evaluating `node` in the present scope cannot fail and has no effect."""
    if isinstance(node, ast.Constant | ast.Name):
        return True
    if isinstance(node, ast.BoolOp):
        return all(is_total(a, value, loops) for value in node.values)
    if isinstance(node, ast.IfExp):
        return all(is_total(a, part, loops) for part in (node.test, node.body, node.orelse))
    if isinstance(node, ast.UnaryOp):
        return is_total(a, node.operand, loops) and (isinstance(node.op, ast.Not) or a.value(node.operand) <= NUMBERS)
    if isinstance(node, ast.Tuple | ast.List):
        return all(is_total(a, element, loops) for element in node.elts)
    if isinstance(node, ast.Attribute):
        kinds = a.value(node.value)
        return is_total(a, node.value, loops) and all(_always_has(kind, node.attr) for kind in kinds)
    if isinstance(node, ast.Compare):
        return _comparison(a, node, loops)
    if isinstance(node, ast.BinOp):
        return _operation(a, node, loops)
    if isinstance(node, ast.Subscript):
        return _item(a, node, loops)
    return isinstance(node, ast.Call) and _call(a, node, loops)


def _always_has(kind: Kind, name: str) -> bool:
    """Whether every object of the class gets the attribute when it is made."""
    owner = kind.of if isinstance(kind, Thing) and kind.shape == "instance" else None
    if owner is None or not isinstance(owner.node, ast.ClassDef):
        return False
    for statement in owner.node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == name
        ):
            return owner.name == "dataclass"
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return any(
                isinstance(inner, ast.Assign) and any(getattr(target, "attr", "") == name for target in inner.targets)
                for inner in statement.body
            )
    return False


def _comparison(a: Analysis, node: ast.Compare, loops: Loops) -> bool:
    if not all(is_total(a, side, loops) for side in (node.left, *node.comparators)):
        return False
    left = a.value(node.left)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = a.value(comparator)
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            if not (left | right <= NUMBERS or left | right <= STR):
                return False
        elif isinstance(op, ast.In | ast.NotIn):
            shapes = {shape_of(kind) for kind in right}
            if not shapes <= SIZED or ("str" in shapes and not left <= STR) or not left <= SCALARS:
                return False
        elif any(shape_of(kind) == "instance" for kind in left | right):
            return False
        left = right
    return True


def _operation(a: Analysis, node: ast.BinOp, loops: Loops) -> bool:
    if not (is_total(a, node.left, loops) and is_total(a, node.right, loops)):
        return False
    left, right = a.value(node.left), a.value(node.right)
    if isinstance(node.op, ast.Add) and left <= STR and right <= STR:
        return True
    if not (left <= NUMBERS and right <= NUMBERS):
        return False
    # A whole number of more than 308 digits has no float.
    if a.facts.makes_huge and (isinstance(node.op, ast.Div) or not (left <= WHOLE and right <= WHOLE)):
        return False
    if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return True
    if isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Div):
        return _is_never_zero(node.right, loops)
    if isinstance(node.op, ast.Pow):
        by = node.right.value if isinstance(node.right, ast.Constant) else None
        return left <= WHOLE and isinstance(by, int) and 0 <= by < 10
    return isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor) and left <= WHOLE and right <= WHOLE


def _is_never_zero(node: ast.expr, loops: Loops) -> bool:
    if isinstance(node, ast.Constant):
        return bool(node.value)
    source = loops.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
        start = source.args[0] if 1 < len(source.args) < 3 else None
        return isinstance(start, ast.Constant) and isinstance(start.value, int) and start.value > 0
    return False


def _item(a: Analysis, node: ast.Subscript, loops: Loops) -> bool:
    if not is_total(a, node.value, loops):
        return False
    kinds = a.value(node.value)
    if all(shape_of(kind) == "Counter" for kind in kinds) and not isinstance(node.slice, ast.Slice):
        return is_total(a, node.slice, loops) and a.value(node.slice) <= SCALARS
    if isinstance(node.slice, ast.Slice):
        bounds = [bound for bound in (node.slice.lower, node.slice.upper) if bound is not None]
        plain = all(is_total(a, bound, loops) and a.value(bound) <= INT for bound in bounds)
        return plain and node.slice.step is None and all(shape_of(kind) in ("str", "list", "tuple") for kind in kinds)
    if isinstance(node.slice, ast.Constant):
        position = node.slice.value
        return all(isinstance(kind, Thing) and kind.shape == "tuple" and position in kind.fields for kind in kinds)
    return all(shape_of(kind) in ("str", "list", "tuple") for kind in kinds) and _is_within(node, loops)


def _is_within(node: ast.Subscript, loops: Loops) -> bool:
    """`x[i]` where i runs over `range(len(x))`, or `x[i + 1]` where it runs over `range(len(x) - 1)`."""
    index, ahead = _apart(node.slice, ast.Add)
    source = loops.get(index.id) if isinstance(index, ast.Name) else None
    if not (isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"):
        return False
    start, stop = (ast.Constant(0), source.args[0]) if len(source.args) == 1 else (source.args[0], source.args[1])
    if len(source.args) > 2 or not (
        isinstance(start, ast.Constant) and isinstance(start.value, int) and start.value >= 0
    ):
        return False
    end, short = _apart(stop, ast.Sub)
    if not (isinstance(end, ast.Call) and isinstance(end.func, ast.Name) and end.func.id == "len"):
        return False
    return len(end.args) == 1 and ast.dump(end.args[0]) == ast.dump(node.value) and ahead <= short


def _apart(node: ast.expr, op: type[ast.operator]) -> tuple[ast.expr, int]:
    """`x` and 1 of `x + 1`; `x` and 0 of any other `x`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, op) and isinstance(node.right, ast.Constant):
        number = node.right.value
        if isinstance(number, int):
            return node.left, number
    return node, 0


def _call(a: Analysis, node: ast.Call, loops: Loops) -> bool:
    if node.keywords:
        return False
    if isinstance(node.func, ast.Attribute):
        if not is_total(a, node.func.value, loops) or not all(is_total(a, argument, loops) for argument in node.args):
            return False
        kinds = a.value(node.func.value)
        if kinds <= STR and node.func.attr in TEXT_METHODS:
            return all(a.value(argument) <= STR for argument in node.args)
        scalars = all(a.value(argument) <= SCALARS for argument in node.args)
        return (
            node.func.attr in DICT_METHODS and scalars and all(shape_of(kind) in ("dict", "Counter") for kind in kinds)
        )
    if not isinstance(node.func, ast.Name) or a.scope.find(node.func.id) is not None:
        return False
    name = node.func.id
    if name in ("any", "all", "sum", "set", "sorted", "list", "len") and len(node.args) == 1:
        only = node.args[0]
        if isinstance(only, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            first = only.generators[0].iter
            if name not in ("any", "all", "len") or not all(shape_of(kind) in SIZED for kind in a.value(first)):
                return False
            return is_total(a, first, loops) and comprehension_is_total(a, only, loops)
    if not all(is_total(a, argument, loops) for argument in node.args):
        return False
    if name in ("isinstance", "range"):
        return name == "isinstance" or all(a.value(argument) <= WHOLE for argument in node.args)
    if name in ("min", "max"):
        return len(node.args) > 1 and all(a.value(argument) <= NUMBERS for argument in node.args)
    if name == "ord":
        return _is_one_character(a, node.args[0], loops)
    return len(node.args) == 1 and _builtin_is_total(name, a.value(node.args[0]))


def _is_one_character(a: Analysis, node: ast.expr, loops: Loops) -> bool:
    source = loops.get(node.id) if isinstance(node, ast.Name) else None
    return source is not None and isinstance(source, ast.Name | ast.Constant) and a.value(source) <= STR
