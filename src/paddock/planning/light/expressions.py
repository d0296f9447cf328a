"""Expressions, over kinds of value."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import calls, iterators, lazy, total
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope, declare
from paddock.planning.light.tables import DATA, MODULES
from paddock.planning.light.things import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    NUMBERS,
    ORDERLESS,
    STR,
    WHOLE,
    Kind,
    Kinds,
    Thing,
    shape_of,
)

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

CONSTANTS = {bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes", type(None): "none"}
TIME_KINDS = frozenset({"datetime.date", "datetime.datetime", "datetime.timedelta"})


def _constant(a: Analysis, node: ast.Constant) -> Kinds:
    kind = CONSTANTS.get(type(node.value))
    if kind is None:
        raise Refused("uses `...`", node)
    return frozenset({kind})


def _name(a: Analysis, node: ast.Name) -> Kinds:
    return a.lookup(node.id, node)


def _bool_op(a: Analysis, node: ast.BoolOp) -> Kinds:
    return frozenset().union(*(a.value(value) for value in node.values))


def _named_expr(a: Analysis, node: ast.NamedExpr) -> Kinds:
    kinds = a.value(node.value)
    scope = a.scope
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    a.flow(kinds, scope.cell(node.target.id))
    return kinds


def _bin_op(a: Analysis, node: ast.BinOp) -> Kinds:
    return binary(a, node, a.value(node.left), node.op, a.value(node.right), node.right)


def binary(a: Analysis, node: ast.AST, left: Kinds, op: ast.operator, right: Kinds, divisor: ast.expr) -> Kinds:
    """What `left op right` gives."""
    if isinstance(op, ast.MatMult):
        raise Refused("uses the operator @", node)
    if isinstance(op, ast.Mod) and "str" in left:
        calls.check_percent(a, node, right, divisor)
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and not left <= {"str"}:
        _check_division(a, node, op, left, right, divisor)
    if isinstance(op, ast.LShift | ast.RShift) and any(
        isinstance(inner, ast.Pow | ast.LShift)
        or (isinstance(inner, ast.Constant) and inner.value not in range(10_000))
        for inner in ast.walk(divisor)
    ):
        raise Refused("shifts by a number that may be huge", node)
    if isinstance(op, ast.Pow):
        _check_power(a, node, left, right, divisor)
    result: set[Kind] = set()
    for one in left:
        for other in right:
            result |= _pair(a, node, one, op, other)
    return frozenset(result)


def _pair(a: Analysis, node: ast.AST, left: Kind, op: ast.operator, right: Kind) -> Kinds:
    one, other = shape_of(left), shape_of(right)
    if one in NUMBERS and other in NUMBERS:
        if "dyadic" in (one, other) or _is_long_fraction(a, node, op, one):
            return frozenset({"dyadic"})
        if isinstance(op, ast.Div):
            return FLOAT
        if one in WHOLE and other in WHOLE:
            if one == other == "bool" and isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
                return BOOL
            return frozenset({"int", "float"}) if isinstance(op, ast.Pow) else INT
        return FLOAT
    if "any" in (one, other):
        return _unknown_pair(a, node, left, op, right)
    if one == "str" and isinstance(op, ast.Mod):
        return STR
    if one == other == "str" and isinstance(op, ast.Add):
        return STR
    if isinstance(op, ast.Mult) and {one, other} <= {"str", "int", "bool"} and "str" in (one, other):
        return STR
    if one == other == "bytes" and isinstance(op, ast.Add):
        return frozenset({"bytes"})
    if one in ("list", "tuple") and one == other and isinstance(op, ast.Add):
        return a.holding(node, one, _held(left) | _held(right), tag="+")
    if isinstance(op, ast.Mult) and "int" in (one, other) and {one, other} & {"list", "tuple"}:
        sequence = left if one != "int" else right
        return a.holding(node, shape_of(sequence), _held(sequence), tag="*")
    if (
        "view" in (one, other)
        and {one, other} <= {"view", "set"}
        and isinstance(op, ast.BitAnd | ast.BitOr | ast.Sub | ast.BitXor)
    ):
        return a.holding(node, "set", _held(left) | _held(right), tag="views")
    if one in ORDERLESS and other in ORDERLESS and isinstance(op, ast.BitAnd | ast.BitOr | ast.Sub | ast.BitXor):
        return a.holding(node, one, _held(left) | _held(right), tag="set")
    if one == other == "dict" and isinstance(op, ast.BitOr):
        return _merged(a, node, left, right)
    if one == other == "Counter" and isinstance(op, ast.Add | ast.Sub):
        return a.holding(node, "Counter", INT, _keys(left) | _keys(right))
    if one in TIME_KINDS or other in TIME_KINDS:
        return _time_pair(node, one, op, other)
    if isinstance(left, Thing) and left.shape == "instance":
        return calls.special(a, node, left, op, right)
    if isinstance(left, Thing) or isinstance(right, Thing) or "bytes" in (one, other):
        raise Refused(f"uses an operator on a {one} and a {other}", node)
    a.diverges(node, "TypeError", "an operator")
    return NOTHING


def _is_long_fraction(a: Analysis, node: ast.AST, op: ast.operator, left: str) -> bool:
    """Whether a number is divided by a large power of two, or halved again and again, or a half is raised to a power."""
    if isinstance(node, ast.BinOp):
        base, other = node.left, node.right
    elif isinstance(node, ast.AugAssign):
        base, other = node.target, node.value
    else:
        return False
    if isinstance(op, ast.Div):
        divisor = constant(a, other)
        if not isinstance(divisor, int | float) or divisor <= 0 or math.frexp(divisor)[0] != 0.5:
            return False
        again = a.loops and {n.id for n in ast.walk(base) if isinstance(n, ast.Name)} & set().union(*a.loops)
        return divisor >= 256 or (left not in WHOLE and bool(again))
    value = constant(a, base)
    return isinstance(op, ast.Pow) and isinstance(value, float) and (value * 64).is_integer()


def constant(a: Analysis, node: ast.expr) -> object:
    """The number that `node` always is, where the script says so."""
    if isinstance(node, ast.Name):
        bound = a.facts.single(node.id)
        return constant(a, bound) if bound is not None and not isinstance(bound, ast.Name) else None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        left, right = constant(a, node.left), constant(a, node.right)
        if isinstance(left, int) and isinstance(right, int) and 0 <= right < 10**6:
            return left * right if isinstance(node.op, ast.Mult) else left**right if right < 100 else None
    return None


def _unknown_pair(a: Analysis, node: ast.AST, left: Kind, op: ast.operator, right: Kind) -> Kinds:
    if a.strict():
        raise Refused("uses an operator on a value of unknown kind where TypeError is caught", node)
    known = right if left == "any" else left
    if left == "any" and _is_long_fraction(a, node, op, "float"):
        return frozenset({"dyadic"})
    if isinstance(known, Thing):
        if known.shape in ("list", "tuple") and isinstance(op, ast.Add | ast.Mult):
            return a.holding(node, known.shape, _held(known) | ANY, tag="any")
        if known.shape != "dict" or not isinstance(op, ast.BitOr):
            raise Refused(f"uses an operator on a {known.shape} and a value of unknown kind", node)
        return a.holding(node, "dict", _held(known) | ANY, _keys(known) | ANY)
    if known == "str":
        return STR
    if isinstance(op, ast.Div) and known in NUMBERS:
        return FLOAT
    return ANY


def _time_pair(node: ast.AST, one: str, op: ast.operator, other: str) -> Kinds:
    stamps = ("datetime.date", "datetime.datetime")
    if isinstance(op, ast.Sub) and one in stamps and other == one:
        return frozenset({"datetime.timedelta"})
    if isinstance(op, ast.Add | ast.Sub) and one in stamps and other == "datetime.timedelta":
        return frozenset({one})
    if isinstance(op, ast.Add | ast.Sub) and one == other == "datetime.timedelta":
        return frozenset({one})
    if isinstance(op, ast.Mult) and {one, other} == {"datetime.timedelta", "int"}:
        return frozenset({"datetime.timedelta"})
    if one == other == "datetime.timedelta" and isinstance(op, ast.Div | ast.FloorDiv):
        return FLOAT if isinstance(op, ast.Div) else INT
    raise Refused("uses arithmetic of dates that is not known to be the same", node)


def _merged(a: Analysis, node: ast.AST, left: Kind, right: Kind) -> Kinds:
    made = a.thing(node, "dict", "|")
    for side in (left, right):
        if isinstance(side, Thing):
            merge_dict(a, made, side)
    return frozenset({made})


def merge_dict(a: Analysis, into: Thing, source: Thing) -> None:
    """Let `into` hold what the dict `source` holds."""
    a.flow(source.items, into.items)
    a.flow(source.keys, into.keys)
    for name, kinds in source.fields.items():
        a.flow(kinds, into.fields.setdefault(name, set()))


def _held(kind: Kind) -> set[Kind]:
    return kind.held() if isinstance(kind, Thing) else set()


def _keys(kind: Kind) -> set[Kind]:
    return kind.keys if isinstance(kind, Thing) else set()


def _check_division(a: Analysis, node: ast.AST, op: ast.operator, left: Kinds, right: Kinds, divisor: ast.expr) -> None:
    note_division(a, node, type(op).__name__, left, right)
    if isinstance(divisor, ast.Constant) and isinstance(divisor.value, int | float) and divisor.value:
        return
    if isinstance(op, ast.Div) and left <= WHOLE and right <= WHOLE:
        return
    a.diverges(node, "ZeroDivisionError", "a division")


def note_division(a: Analysis, node: ast.AST, op: str, left: Kinds, right: Kinds) -> None:
    """Remember what is divided on this line: the text of a ZeroDivisionError depends on it."""
    seen = a.divisions.setdefault(getattr(node, "lineno", 0), set())
    for kind in left | right:
        seen.add((op, "unknown" if kind not in NUMBERS else "float" if kind in ("float", "dyadic") else "int"))
    if "float" in left | right and not (("float" in left and left <= FLOAT) or ("float" in right and right <= FLOAT)):
        seen.add((op, "unknown"))


def _check_power(a: Analysis, node: ast.AST, left: Kinds, right: Kinds, exponent: ast.expr) -> None:
    if isinstance(node, ast.BinOp) and size_of(node) > 14_000:
        raise Refused("makes a number of thousands of digits", node)
    positive = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float) and exponent.value >= 0
    if not positive:
        a.diverges(node, "ZeroDivisionError", "a power")
    # A negative number to a fraction is complex in CPython and NaN in Monty.
    fraction = not right <= WHOLE and not _is_whole(exponent)
    base = getattr(node, "left", None)
    if fraction and a.may_be_negative(base):
        raise Refused("takes a power with a fraction as exponent", node)
    if isinstance(base, ast.Constant) and base.value in (2, 4, 8, 32) and isinstance(exponent, ast.UnaryOp):
        raise Refused("takes a power that is a long binary fraction", node)


def size_of(node: ast.expr) -> float:
    """How many bits a number that is written out in the script has; 0 where it is not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value.bit_length()
    if isinstance(node, ast.UnaryOp):
        return size_of(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = size_of(node.left), size_of(node.right)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            return left * node.right.value
        if isinstance(node.op, ast.LShift) and isinstance(node.right, ast.Constant):
            return left + node.right.value
        return max(left, right)
    return 0


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and float(node.value).is_integer()


def _is_never_negative(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and node.value >= 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("abs", "len")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return isinstance(node.right, ast.Constant) and node.right.value == 2
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return _is_never_negative(node.left) and _is_never_negative(node.right)
    return False


def check_augmented(a: Analysis, node: ast.AugAssign, left: Kinds, right: Kinds) -> None:
    """Refuse `op=` where Monty makes a new value instead of changing the old one, or takes fewer kinds."""
    for kind in left:
        shape = shape_of(kind)
        if shape == "list":
            if not isinstance(node.op, ast.Add) or any(shape_of(other) != "list" for other in right):
                raise Refused("changes a list in place with something other than a list", node)
            if isinstance(kind, Thing):
                for other in right:
                    a.flow(_held(other), kind.items)
        elif shape == "dict" and isinstance(node.op, ast.BitOr) and isinstance(kind, Thing):
            for other in right:
                if not isinstance(other, Thing) or other.shape != "dict":
                    raise Refused("updates a dict with something other than a dict", node)
                merge_dict(a, kind, other)
        elif shape in ("set", "frozenset", "dict", "Counter", "defaultdict", "deque"):
            raise Refused(f"changes a {shape} in place with an operator", node)
    if not (left <= NUMBERS and right <= NUMBERS) and not (left <= STR and right <= STR):
        a.diverges(node, "TypeError", "an augmented assignment")


def _unary_op(a: Analysis, node: ast.UnaryOp) -> Kinds:
    kinds = a.value(node.operand)
    if isinstance(node.op, ast.Not):
        return BOOL
    result: set[Kind] = set()
    for kind in kinds:
        if isinstance(kind, Thing) and kind.shape == "instance":
            result |= calls.special(a, node, kind, node.op, None)
        elif kind == "bool":
            result.add("int")
        elif kind in ("int", "float", "any", "datetime.timedelta"):
            result.add(kind)
    return frozenset(result)


def _lambda(a: Analysis, node: ast.Lambda) -> Kinds:
    return frozenset({function(a, node)})


def function(a: Analysis, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Thing:
    """The function that `node` makes, its defaults bound."""
    made = a.thing(node, "function")
    if made.scope is None:
        scope = Scope("function", a.scope, thing=made)
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            scope.names[argument.arg] = set()
            scope.plain.add(argument.arg)
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                scope.names[rest.arg] = set()
                scope.plain.add(rest.arg)
        if not isinstance(node, ast.Lambda):
            declare(scope, node.body)
        else:
            declare(scope, [ast.Expr(node.body)])
        made.scope = scope
    positional = [*node.args.posonlyargs, *node.args.args]
    for argument, default in zip(reversed(positional), reversed(node.args.defaults), strict=False):
        made.fields.setdefault(argument.arg, set())
        a.flow(a.value(default), made.fields[argument.arg])
    for argument, keyword_default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if keyword_default is not None:
            a.flow(a.value(keyword_default), made.fields.setdefault(argument.arg, set()))
    return made


def _if_exp(a: Analysis, node: ast.IfExp) -> Kinds:
    a.value(node.test)
    return a.value(node.body) | a.value(node.orelse)


def _dict(a: Analysis, node: ast.Dict) -> Kinds:
    made = a.thing(node, "dict")
    for key, value in zip(node.keys, node.values, strict=True):
        kinds = a.value(value)
        if key is None:
            for kind in kinds:
                if isinstance(kind, Thing) and kind.shape == "dict":
                    merge_dict(a, made, kind)
                elif kind == "any":
                    a.flow(ANY, made.items)
                    a.flow(ANY, made.keys)
                else:
                    raise Refused("unpacks something other than a dict into a dict", value)
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            a.flow(STR, made.keys)
            a.flow(kinds, made.fields.setdefault(key.value, set()))
        else:
            a.flow(a.value(key), made.keys)
            a.flow(kinds, made.items)
    a.check_keys(made, node)
    return frozenset({made})


def _elements(a: Analysis, node: ast.List | ast.Set | ast.Tuple) -> tuple[list[Kinds], bool]:
    """The kinds of each element, and whether their number is known."""
    found: list[Kinds] = []
    exact = True
    for element in node.elts:
        if isinstance(element, ast.Starred):
            exact = False
            found.append(lazy.consume(a, element.value))
        else:
            found.append(a.value(element))
    return found, exact


def _list(a: Analysis, node: ast.List) -> Kinds:
    return a.holding(node, "list", frozenset().union(*_elements(a, node)[0]))


def _set(a: Analysis, node: ast.Set) -> Kinds:
    items: Kinds = frozenset().union(*_elements(a, node)[0])
    _check_hashable(a, items, node)
    return a.holding(node, "set", items)


def _check_hashable(a: Analysis, items: Kinds, node: ast.AST) -> None:
    if any(shape_of(item) in ("list", "dict", "set", "any", "instance") for item in items):
        a.diverges(node, "TypeError", "an unhashable element")


def _tuple(a: Analysis, node: ast.Tuple) -> Kinds:
    elements, exact = _elements(a, node)
    made = a.thing(node, "tuple")
    if exact:
        for position, kinds in enumerate(elements):
            a.flow(kinds, made.fields.setdefault(position, set()))
    else:
        a.flow(frozenset().union(*elements), made.items)
    return frozenset({made})


def comprehension(
    a: Analysis, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, *, ordered: bool = True
) -> Scope:
    """Enter the loops of a comprehension; the caller evaluates its element and restores the scope."""
    scope = a.scopes.get(id(node))
    if scope is None:
        scope = a.scopes[id(node)] = Scope("comprehension", a.scope)
    for number, generator in enumerate(node.generators):
        if number:
            a.scope = scope
        if isinstance(node, ast.GeneratorExp) and iterators.is_endless(a, generator.iter):
            raise Refused("makes a generator of something without end", node)
        items = lazy.consume(a, generator.iter, ordered=ordered)
        a.scope = scope
        a.bind(generator.target, items)
        for condition in generator.ifs:
            a.value(condition)
    a.scope = scope
    return scope


def check_interleaved(a: Analysis, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
    """A lazy value inside a comprehension is made bit by bit between its elements: one of both must not be seen."""
    if lazy.is_lazy(a, node.generators[0].iter):
        source = node.generators[0].iter
        for inner in ast.walk(node):
            if (
                isinstance(inner, ast.Call)
                and isinstance(inner.func, ast.Attribute)
                and inner.func.attr in lazy.MUTATORS
            ):
                raise Refused("changes something inside a comprehension over a lazy value", node)
        if not total.lazy_is_total(a, source) and not total.comprehension_is_total(a, node):
            raise Refused("makes a comprehension over a lazy value that may fail or be seen at work", node)


def _list_comp(a: Analysis, node: ast.ListComp) -> Kinds:
    before = a.scope
    comprehension(a, node)
    items = a.value(node.elt)
    a.scope = before
    check_interleaved(a, node)
    return a.holding(node, "list", items)


def _set_comp(a: Analysis, node: ast.SetComp) -> Kinds:
    before = a.scope
    comprehension(a, node, ordered=False)
    items = a.value(node.elt)
    a.scope = before
    check_interleaved(a, node)
    if not total.comprehension_is_total(a, node):
        comprehension(a, node)  # the order in which elements are made can be seen
        a.scope = before
    _check_hashable(a, items, node)
    return a.holding(node, "set", items)


def _dict_comp(a: Analysis, node: ast.DictComp) -> Kinds:
    before = a.scope
    comprehension(a, node)
    keys, values = a.value(node.key), a.value(node.value)
    a.scope = before
    check_interleaved(a, node)
    return a.holding(node, "dict", values, keys)


def _generator(a: Analysis, node: ast.GeneratorExp) -> Kinds:
    raise Refused("keeps a generator expression", node)


def _await(a: Analysis, node: ast.Await) -> Kinds:
    result: set[Kind] = set()
    for kind in a.value(node.value):
        if isinstance(kind, Thing) and kind.shape == "coroutine":
            result |= kind.items
        else:
            raise Refused("awaits something that is not a coroutine", node)
    return frozenset(result)


def _compare(a: Analysis, node: ast.Compare) -> Kinds:
    sides = [a.value(node.left)]
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = (
            lazy.consume(a, comparator, ordered=False, whole=False)
            if isinstance(op, ast.In | ast.NotIn) and isinstance(comparator, ast.GeneratorExp)
            else a.value(comparator)
        )
        _check_comparison(a, node, sides[-1], op, right, comparator)
        sides.append(right)
    own = [k for side in sides for k in side if isinstance(k, Thing) and k.shape == "instance" and has(k, "__eq__")]
    given: set[Kind] = set()
    for kind in own:
        given |= calls.method(a, node, kind, "__eq__", [frozenset({kind})])
    return BOOL | given


def _check_comparison(
    a: Analysis, node: ast.Compare, left: Kinds, op: ast.cmpop, right: Kinds, other: ast.expr
) -> None:
    if isinstance(op, ast.Is | ast.IsNot):
        _check_identity(node, left, right, other)
    elif isinstance(op, ast.In | ast.NotIn):
        if "any" in right:
            a.diverges(node, "TypeError", "`in`")
        for kind in right:
            if shape_of(kind) in ("lazy", "iterator", "instance"):
                if not (isinstance(kind, Thing) and a.has_method(kind, "__contains__")):
                    raise Refused("looks for something in an iterator", node)
            elif shape_of(kind) in (*NUMBERS, "none"):
                a.diverges(node, "TypeError", "`in`")
        if any(shape_of(kind) == "set" for kind in left):
            raise Refused("looks for a set", node)
        if any(shape_of(kind) == "view" for kind in right):
            a.diverges(node, "TypeError", "`in`")
        if any(shape_of(kind) in ("dict", "set", "frozenset", "view", "Counter", "defaultdict") for kind in right):
            _check_hashable(a, left, node)
    elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        check_ordering(a, node, left | right)
    else:
        _check_equality(a, node, left, right)


def _check_equality(a: Analysis, node: ast.Compare, left: Kinds, right: Kinds) -> None:
    for kind in left | right:
        if isinstance(kind, Thing) and kind.shape in ("function", "bound", "lazy", "iterator"):
            raise Refused("compares functions or iterators", node)
        if isinstance(kind, Thing) and kind.shape == "instance" and has(kind, "__eq__"):
            calls.method(a, node, kind, "__eq__", [right if kind in left else left])


def has(instance: Thing, name: str) -> bool:
    """Whether the class of `instance` defines `name` itself."""
    return instance.of is not None and isinstance(instance.of.scope, Scope) and name in instance.of.scope.names


def check_ordering(a: Analysis, node: ast.AST, kinds: Kinds) -> None:
    """Values of these kinds are ordered: refuse where the text of a TypeError would differ and is looked at."""
    if kinds <= NUMBERS or kinds <= STR:
        return
    shapes = {shape_of(kind) for kind in kinds}
    if shapes & {"instance", "set", "frozenset"} or {"datetime.date", "datetime.datetime"} <= shapes:
        raise Refused("orders objects, sets, or dates of two kinds", node)
    a.diverges(node, "TypeError", "an ordering")


def _check_identity(node: ast.Compare, left: Kinds, right: Kinds, other: ast.expr) -> None:
    if isinstance(other, ast.Constant) and (other.value is None or isinstance(other.value, bool)):
        return
    if isinstance(node.left, ast.Constant) and (node.left.value is None or isinstance(node.left.value, bool)):
        return
    named = {"list", "dict", "instance", "class", "builtin", "none", "exception class", "type object", "class object"}
    if not all(shape_of(kind) in named for kind in left | right):
        raise Refused("asks for the identity of values", node)


def _joined_str(a: Analysis, node: ast.JoinedStr) -> Kinds:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            formatted(a, part)
    return STR


def formatted(a: Analysis, part: ast.FormattedValue) -> Kinds:
    kinds = a.value(part.value)
    rounded = part.format_spec is not None and part.conversion == -1
    a.check_shown(kinds - {"dyadic"} if rounded else kinds, part, as_text=part.conversion in (-1, ord("s")))
    if part.format_spec is not None:
        calls.check_format(a, part, STR if part.conversion != -1 else kinds, part.format_spec)
    return STR


def _attribute(a: Analysis, node: ast.Attribute) -> Kinds:
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.attr == "__name__":
        return _type_name(a, node, node.value)
    result: set[Kind] = set()
    for kind in a.value(node.value):
        result |= load_attribute(a, kind, node.attr, node)
    return frozenset(result)


def _type_name(a: Analysis, node: ast.Attribute, call: ast.Call) -> Kinds:
    """`type(x).__name__`, for kinds whose name is the same on both sides."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "type" and len(call.args) == 1):
        raise Refused("asks for a __name__", node)
    named = {"list", "tuple", "dict", "set", "instance", "exception", "Counter", "defaultdict", "deque", "function"}
    for kind in a.value(call.args[0]):
        if isinstance(kind, Thing) and kind.shape not in named:
            raise Refused("asks for the name of a type", node)
        if isinstance(kind, str) and kind not in (*NUMBERS, "str", "bytes", "none", "any"):
            raise Refused("asks for the name of a type", node)
    return STR


def load_attribute(a: Analysis, kind: Kind, name: str, node: ast.AST) -> Kinds:
    """`value.name` where it is not called."""
    if isinstance(kind, Thing):
        if kind.shape == "module":
            return module_attribute(a, kind.name, name, node)
        if kind.shape == "instance":
            return _instance_attribute(a, kind, name, node)
        if kind.shape == "class":
            return _class_attribute(kind, name, node)
        if kind.shape == "record value":
            found = kind.fields.get(name)
            if found is not None:
                return frozenset(found)
        if kind.shape == "exception" and name == "args":
            return a.holding(node, "tuple", STR)
        if lacks(kind, name):
            return NOTHING
        raise Refused(f"uses the attribute {name} of a {kind.shape}", node)
    data = DATA.get(kind, {}).get(name)
    if data is not None:
        return frozenset({data})
    if lacks(kind, name):
        return NOTHING
    raise Refused(f"uses the attribute {name} of a value of kind {kind}", node)


TYPES: dict[str, type] = {
    "none": type(None), "int": int, "float": float, "bool": bool, "str": str, "bytes": bytes, "list": list,
    "tuple": tuple, "dict": dict, "set": set, "frozenset": frozenset,
}  # fmt: skip


def lacks(kind: Kind, name: str) -> bool:
    """Whether a value of this kind has no attribute `name` in CPython either: an AttributeError, in the same words."""
    shape = shape_of(kind)
    return shape in TYPES and not hasattr(TYPES[shape], name)


def _instance_attribute(a: Analysis, kind: Thing, name: str, node: ast.AST) -> Kinds:
    if name.startswith("__"):
        if name.endswith("__"):
            raise Refused(f"uses the attribute {name}", node)
    owner = kind.of
    found = set(kind.fields.get(name, ()))
    if owner is not None and isinstance(owner.scope, Scope):
        inherited = owner.scope.names.get(name, set()) | owner.fields.get(name, set())
        if any(isinstance(k, Thing) and k.shape == "function" for k in inherited):
            raise Refused(f"keeps the method {name} as a value", node)
        found |= inherited
    return frozenset(found)


def _class_attribute(kind: Thing, name: str, node: ast.AST) -> Kinds:
    if name.startswith("__") or not isinstance(kind.scope, Scope):
        raise Refused(f"uses the attribute {name} of a class", node)
    found = kind.scope.names.get(name, set()) | kind.fields.get(name, set())
    if any(isinstance(k, Thing) and k.shape == "function" for k in found):
        raise Refused(f"takes the method {name} from its class", node)
    return frozenset(found)


def module_attribute(a: Analysis, module: str, name: str, node: ast.AST) -> Kinds:
    """`module.name`, called or not."""
    entry = MODULES[module].get(name)
    if entry is None:
        raise Refused(f"uses {module}.{name}", node)
    if entry == "=exception":
        return frozenset({a.named("exception class", name)})
    if entry == "=annotation":
        return frozenset({a.named("annotation", name)})
    if entry == "=type":
        return frozenset({a.named("type", f"{module}.{name}")})
    if entry == "=decorator":
        return frozenset({a.named("decorator", name)})
    if entry == "=memo":
        return frozenset({a.named("memo", name)})
    if entry.startswith("="):
        return frozenset({entry[1:]})
    return frozenset({a.named("builtin", f"{module}.{name}")})


def store_attribute(a: Analysis, target: ast.Attribute, kinds: Kinds) -> None:
    for kind in a.value(target.value):
        if kind == "none":
            continue  # an AttributeError, in the same words
        if not isinstance(kind, Thing) or kind.shape not in ("instance", "class"):
            raise Refused(f"sets the attribute {target.attr} of a {shape_of(kind)}", target)
        if target.attr.startswith("__") and target.attr.endswith("__"):
            raise Refused(f"sets the attribute {target.attr}", target)
        a.flow(kinds, kind.fields.setdefault(target.attr, set()))


def _subscript(a: Analysis, node: ast.Subscript) -> Kinds:
    if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
        raise Refused("slices in several dimensions", node)
    receivers = a.value(node.value)
    if isinstance(node.slice, ast.Slice):
        return _slice(a, node, receivers, node.slice)
    if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
        raise Refused("slices in several dimensions", node)
    keys = a.value(node.slice)
    result: set[Kind] = set()
    if any(shape_of(kind) in ("dict", "any", "defaultdict", "Counter") for kind in receivers):
        a.keys_read.setdefault(node.lineno, set()).update(keys)
    for kind in receivers:
        result |= load_item(a, kind, node, keys)
    return frozenset(result)


def _slice(a: Analysis, node: ast.Subscript, receivers: Kinds, piece: ast.Slice) -> Kinds:
    for bound in (piece.lower, piece.upper, piece.step):
        if bound is not None:
            a.value(bound)
    result: set[Kind] = set()
    for kind in receivers:
        shape = shape_of(kind)
        if shape in ("list", "tuple") and isinstance(kind, Thing):
            result |= a.holding(node, shape, kind.held())
        elif kind in ("str", "bytes", "any"):
            result.add(kind)
        elif shape == "range":
            raise Refused("slices a range", node)
        elif shape in ("int", "float", "none", "bool"):
            a.diverges(node, "TypeError", "slicing")
        else:
            raise Refused(f"slices a {shape}", node)
    return frozenset(result)


def load_item(a: Analysis, kind: Kind, node: ast.Subscript, keys: Kinds) -> Kinds:
    """`value[key]`."""
    if isinstance(kind, str):
        if kind == "any":
            if not keys <= {"str", "int"} or not isinstance(node.slice, ast.Constant):
                a.diverges(node, "KeyError", "a key that may not be text")
            return ANY
        if kind == "re.Match":
            return frozenset({"str", "none"})
        a.diverges(node, "TypeError", "an index")
        return {"str": STR, "bytes": INT}.get(kind, NOTHING)
    if kind.shape == "dict":
        if not keys <= STR:
            a.diverges(node, "KeyError", "a key that may not be text")
        constant = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(constant, str) and constant in kind.fields:
            return frozenset(kind.fields[constant] | kind.items)
        return frozenset(kind.held() if not isinstance(constant, str) else kind.items)
    if kind.shape in ("Counter", "defaultdict"):
        if kind.shape == "defaultdict":
            a.flow(keys, kind.keys)
            a.check_keys(kind, node)
        return frozenset(kind.held() | ({"int"} if kind.shape == "Counter" else set()))
    if kind.shape in ("tuple", "record value") and isinstance(node.slice, ast.Constant):
        position = node.slice.value
        if isinstance(position, int) and position in kind.fields:
            return frozenset(kind.fields[position])
    if kind.shape in ("list", "tuple", "deque", "record value"):
        if "bool" in keys:
            raise Refused("indexes with a truth value", node)
        if not keys <= WHOLE:
            a.diverges(node, "TypeError", "an index")
        return frozenset(kind.held() if kind.shape != "record value" else frozenset().union(*kind.fields.values()))
    if kind.shape == "range":
        return INT
    if kind.shape == "instance":
        return calls.method(a, node, kind, "__getitem__", [keys])
    raise Refused(f"indexes a {kind.shape}", node)


def store_item(a: Analysis, target: ast.Subscript, kinds: Kinds) -> None:
    """`value[key] = …`"""
    receivers = a.value(target.value)
    keys = NOTHING if isinstance(target.slice, ast.Slice) else a.value(target.slice)
    for kind in receivers:
        if kind == "any":
            check_stored(kinds | keys, target)
            if keys & {"bool", "float"}:
                raise Refused("uses a key that may equal another of another kind", target)
            continue
        if not isinstance(kind, Thing):
            a.diverges(target, "TypeError", "an assignment to an item")
            continue
        a.note_change(kind, target)
        if kind.shape == "list":
            if isinstance(target.slice, ast.Slice) and any(shape_of(k) in (*NUMBERS, "none") for k in kinds):
                raise Refused("assigns something other than a sequence to a slice", target)
            items = lazy.iterate(a, kinds, target) if isinstance(target.slice, ast.Slice) else kinds
            a.flow(items, kind.items)
        elif kind.shape == "Counter" and not kinds <= NUMBERS | ANY:
            raise Refused("counts in something other than numbers", target)
        elif kind.shape in ("dict", "defaultdict", "Counter"):
            constant = target.slice.value if isinstance(target.slice, ast.Constant) else None
            a.flow(keys, kind.keys)
            a.check_keys(kind, target)
            if isinstance(constant, str) and kind.shape == "dict":
                a.flow(kinds, kind.fields.setdefault(constant, set()))
            else:
                a.flow(kinds, kind.items)
        elif kind.shape == "deque":
            a.flow(kinds, kind.items)
        elif kind.shape == "instance":
            calls.method(a, target, kind, "__setitem__", [keys, kinds])
        elif kind.shape != "tuple":
            raise Refused(f"assigns to an item of a {kind.shape}", target)


def check_stored(kinds: Kinds, node: ast.AST) -> None:
    """What is put into a value of unknown kind is lost sight of: only plain data may be."""
    waiting, seen = list(kinds), set()
    while waiting:
        kind = waiting.pop()
        if not isinstance(kind, Thing) or id(kind) in seen:
            continue
        seen.add(id(kind))
        if kind.shape not in ("list", "dict", "tuple"):
            raise Refused(f"puts a {kind.shape} into a value of unknown kind", node)
        waiting += [*kind.held(), *kind.keys]


def _call(a: Analysis, node: ast.Call) -> Kinds:
    return calls.call(a, node)


def _starred(a: Analysis, node: ast.Starred) -> Kinds:
    raise Refused("unpacks in an unusual place", node)


EXPRESSIONS: dict[type[ast.expr], Callable[[Analysis, ast.expr], Kinds]] = {
    ast.Constant: _constant,  # type: ignore[dict-item]
    ast.Name: _name,  # type: ignore[dict-item]
    ast.BoolOp: _bool_op,  # type: ignore[dict-item]
    ast.NamedExpr: _named_expr,  # type: ignore[dict-item]
    ast.BinOp: _bin_op,  # type: ignore[dict-item]
    ast.UnaryOp: _unary_op,  # type: ignore[dict-item]
    ast.Lambda: _lambda,  # type: ignore[dict-item]
    ast.IfExp: _if_exp,  # type: ignore[dict-item]
    ast.Dict: _dict,  # type: ignore[dict-item]
    ast.List: _list,  # type: ignore[dict-item]
    ast.Set: _set,  # type: ignore[dict-item]
    ast.Tuple: _tuple,  # type: ignore[dict-item]
    ast.ListComp: _list_comp,  # type: ignore[dict-item]
    ast.SetComp: _set_comp,  # type: ignore[dict-item]
    ast.DictComp: _dict_comp,  # type: ignore[dict-item]
    ast.GeneratorExp: _generator,  # type: ignore[dict-item]
    ast.Await: _await,  # type: ignore[dict-item]
    ast.Compare: _compare,  # type: ignore[dict-item]
    ast.Call: _call,  # type: ignore[dict-item]
    ast.JoinedStr: _joined_str,  # type: ignore[dict-item]
    ast.FormattedValue: formatted,  # type: ignore[dict-item]
    ast.Attribute: _attribute,  # type: ignore[dict-item]
    ast.Subscript: _subscript,  # type: ignore[dict-item]
    ast.Starred: _starred,  # type: ignore[dict-item]
    ast.Slice: _starred,  # type: ignore[dict-item]
}
