"""Builtins and module functions whose result depends on what they are given."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import calls, expressions, lazy
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
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

SIZED = frozenset({
    "str", "bytes", "list", "tuple", "dict", "set", "frozenset", "Counter", "defaultdict", "deque", "range", "view",
    "record value",
})  # fmt: skip


def _print(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            a.check_shown(lazy.consume(a, argument.value), node, as_text=True)
        else:
            a.check_shown(a.value(argument), node, as_text=True)
    for keyword in node.keywords:
        kinds = a.value(keyword.value)
        if keyword.arg in ("sep", "end") and not kinds <= {"str", "none"}:
            a.diverges(node, "TypeError", "print()")
    return NONE


def _len(a: Analysis, node: ast.Call) -> Kinds:
    for kind in a.value(node.args[0]):
        if shape_of(kind) in ("instance", "lazy", "iterator", "generator"):
            raise Refused(f"asks for the length of a {shape_of(kind)}", node)
    return INT


def _str(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        a.check_shown(a.value(argument), node, as_text=True)
    return STR


def _repr(a: Analysis, node: ast.Call) -> Kinds:
    a.check_shown(a.value(node.args[0]), node)
    return STR


def _int(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        for kind in a.value(argument):
            if shape_of(kind) not in (*NUMBERS, "str", "any", "none", "list", "dict", "tuple"):
                raise Refused(f"converts a {shape_of(kind)} to a number", node)
    if not a.facts.is_ascii:
        raise Refused("converts text to a number where not all text is ASCII", node)
    return INT


def _float(a: Analysis, node: ast.Call) -> Kinds:
    argument = node.args[0] if node.args else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and "nan" in argument.value.lower():
        raise Refused("uses NaN", node)
    _int(a, node)
    return FLOAT


def _bool(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        a.value(argument)
    return BOOL


def _list(a: Analysis, node: ast.Call) -> Kinds:
    return a.holding(node, "list", lazy.consume(a, node.args[0]) if node.args else NOTHING)


def _tuple(a: Analysis, node: ast.Call) -> Kinds:
    return a.holding(node, "tuple", lazy.consume(a, node.args[0]) if node.args else NOTHING)


def _set_of(shape: str) -> Callable[[Analysis, ast.Call], Kinds]:
    def handler(a: Analysis, node: ast.Call) -> Kinds:
        items = lazy.consume(a, node.args[0], ordered=False) if node.args else NOTHING
        if any(shape_of(item) in ("list", "dict", "set", "any") for item in items):
            a.diverges(node, "TypeError", "an unhashable element")
        return a.holding(node, shape, items)

    return handler


def _dict(a: Analysis, node: ast.Call) -> Kinds:
    made = a.thing(node, "dict")
    for keyword in node.keywords:
        a.flow(STR, made.keys)
        a.flow(a.value(keyword.value), made.fields.setdefault(keyword.arg, set()))
    if not node.args:
        return frozenset({made})
    argument = node.args[0]
    if lazy.lazy_name(a, argument) is None and not isinstance(argument, ast.GeneratorExp):
        rest: set[Kind] = set()
        for kind in a.value(argument):
            if isinstance(kind, Thing) and kind.shape in ("dict", "defaultdict", "Counter"):
                expressions.merge_dict(a, made, kind)
            elif kind == "any":
                a.flow(ANY, made.keys)
                a.flow(ANY, made.items)
            else:
                rest.add(kind)
        items = lazy.iterate(a, frozenset(rest), node)
    else:
        items = lazy.consume(a, argument)
    a.diverges(node, "ValueError", "dict()")
    if any(shape_of(kind) not in ("tuple", "list", "any", "str") for kind in items):
        raise Refused("makes a dict of something other than pairs", node)
    for kind in items:
        if isinstance(kind, Thing) and kind.shape == "tuple" and len(kind.fields) == 2:
            a.flow(kind.fields[0], made.keys)
            a.flow(kind.fields[1], made.items)
        else:
            inner = lazy.iterate(a, frozenset({kind}), node)
            a.flow(inner, made.keys)
            a.flow(inner, made.items)
    a.check_keys(made, node)
    return frozenset({made})


def _sorted(a: Analysis, node: ast.Call) -> Kinds:
    key = next((keyword.value for keyword in node.keywords if keyword.arg == "key"), None)
    for keyword in node.keywords:
        if keyword.arg == "reverse" and not a.value(keyword.value) <= WHOLE:
            raise Refused("sorts in reverse by something that is not a truth value", node)
    # With a key, equal ones stay in the order in which they came: that of a set differs.
    items = lazy.consume(a, node.args[0], ordered=key is not None)
    if key is not None and not (isinstance(key, ast.Constant) and key.value is None):
        expressions.check_ordering(a, node, calls.call_kinds(a, a.value(key), [items], node))
    else:
        expressions.check_ordering(a, node, items)
    return a.holding(node, "list", items)


def _sum(a: Analysis, node: ast.Call) -> Kinds:
    items = lazy.consume(a, node.args[0], ordered=False)
    start = INT if len(node.args) < 2 and not node.keywords else NOTHING
    for extra in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
        start |= a.value(extra)
    if not items <= WHOLE:
        lazy.consume(a, node.args[0])
        # The order of floats changes their sum, and since 3.12 CPython adds them with more care.
        if sys.version_info >= (3, 12) or _has_set(a, node.args[0]):
            raise Refused("adds up numbers that may not be whole", node)
        a.diverges(node, "TypeError", "sum()")
    numbers: set[Kind] = set()
    for kind in items | start:
        if kind in WHOLE:
            numbers.add("int")
        elif shape_of(kind) in ("list", "tuple") and isinstance(kind, Thing):
            numbers |= a.holding(node, kind.shape, kind.held(), tag="sum")
        elif shape_of(kind) == "instance":
            raise Refused("adds up objects", node)
        else:
            numbers.add(kind)
    return frozenset(numbers)


def _has_set(a: Analysis, node: ast.expr) -> bool:
    return not isinstance(node, ast.GeneratorExp | ast.Call) and any(
        shape_of(kind) in ORDERLESS for kind in a.value(node)
    )


def _extreme(a: Analysis, node: ast.Call) -> Kinds:
    key = next((keyword.value for keyword in node.keywords if keyword.arg == "key"), None)
    default = next((a.value(keyword.value) for keyword in node.keywords if keyword.arg == "default"), NOTHING)
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        items = lazy.consume(a, node.args[0], ordered=key is not None)
        if not default:
            a.diverges(node, "ValueError", "min() or max()")
    else:
        if default:
            raise Refused("gives min() or max() several values and a default", node)
        items = frozenset().union(
            *(
                lazy.consume(a, argument.value) if isinstance(argument, ast.Starred) else a.value(argument)
                for argument in node.args
            )
        )
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            a.diverges(node, "ValueError", "min() or max()")
    if key is not None:
        expressions.check_ordering(a, node, calls.call_kinds(a, a.value(key), [items], node))
    else:
        expressions.check_ordering(a, node, items)
    return items | default


def _any_all(a: Analysis, node: ast.Call) -> Kinds:
    name = node.func.id if isinstance(node.func, ast.Name) else "any"
    items = lazy.consume(a, node.args[0], ordered=False, whole=False)
    if any(shape_of(item) == "instance" for item in items):
        raise Refused(f"uses {name}() on objects", node)
    return BOOL


CLASSES = frozenset({"int", "float", "str", "bool", "list", "dict", "tuple", "set", "bytes", "frozenset", "range"})


def _isinstance(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    for one in classes:
        for kind in a.value(one):
            known = isinstance(kind, Thing) and (
                (kind.shape == "tuple" and all(isinstance(i, Thing) and i.name in CLASSES for i in kind.held()))
                or (kind.shape == "builtin" and kind.name in CLASSES)
                or kind.shape in ("class", "exception class")
                or (kind.shape == "type" and kind.name != "datetime.date")
            )
            if not known:
                raise Refused("asks for an instance of an unusual type", node)
    return BOOL


def _type(a: Analysis, node: ast.Call) -> Kinds:
    """`type(x)` is fine to compare with, not to show."""
    kinds = a.value(node.args[0])
    if any(shape_of(kind) not in TYPED for kind in kinds):
        raise Refused("asks for a type", node)
    own = any(shape_of(kind) == "instance" for kind in kinds)
    return frozenset({a.thing(node, "class object" if own else "type object")})


TYPED = frozenset({*NUMBERS, "str", "bytes", "none", "any", "list", "tuple", "dict", "set", "instance"})


def _iter(a: Analysis, node: ast.Call) -> Kinds:
    source = ast.dump(node.args[0])
    for inner in a.facts.nodes:
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in lazy.MUTATORS:
            if ast.dump(inner.func.value) == source:
                raise Refused("changes what an iterator runs over", node)
    return a.holding(node, "iterator", lazy.iterate(a, a.value(node.args[0]), node))


def _next(a: Analysis, node: ast.Call) -> Kinds:
    items: set[Kind] = set()
    for kind in a.value(node.args[0]):
        if not isinstance(kind, Thing) or kind.shape != "iterator":
            raise Refused("calls next() on something other than iter()", node)
        items |= kind.items
    lambda_ = a.scope.thing is not None and isinstance(a.scope.thing.node, ast.Lambda)
    alone = len(node.args) == 1
    if alone and (a.scope.kind == "comprehension" or lambda_):
        raise Refused("calls next() without a default where StopIteration means something else", node)
    if alone and (a.facts.awaits or a.facts.returns_at_top):
        raise Refused("calls next() without a default in a script that awaits", node)
    return frozenset(items) | (a.value(node.args[1]) if len(node.args) > 1 else NOTHING)


def _range(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        bound = (a.facts.single(argument.id) or argument) if isinstance(argument, ast.Name) else argument
        if expressions.size_of(bound) > 62 or any(
            getattr(inner, "attr", "") == "maxsize" for inner in ast.walk(argument)
        ):
            raise Refused("counts beyond 64 bits", node)
        if not a.value(argument) <= WHOLE:
            a.diverges(node, "TypeError", "range()")
    return a.holding(node, "range", INT)


def _abs(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    for kind in a.value(node.args[0]):
        if shape_of(kind) == "instance":
            raise Refused("uses abs() on an object", node)
        result.add("int" if kind == "bool" else kind)
    return frozenset(kind for kind in result if isinstance(kind, str))


def _round(a: Analysis, node: ast.Call) -> Kinds:
    kinds = a.value(node.args[0])
    if any(isinstance(kind, Thing) for kind in kinds):
        raise Refused("rounds something that is not a number", node)
    if len(node.args) == 1:
        return INT
    digits = node.args[1]
    if isinstance(digits, ast.Constant) and isinstance(digits.value, int) and digits.value > 15:
        raise Refused("rounds to more digits than there are", node)
    if not kinds <= WHOLE and (not a.value(digits) <= INT or a.may_be_negative(digits)):
        raise Refused("rounds to a number of digits that may be negative", node)
    return frozenset({{"bool": "int", "dyadic": "float"}.get(str(kind), kind) for kind in kinds})


def _pow(a: Analysis, node: ast.Call) -> Kinds:
    if len(node.args) == 3:
        negative = a.may_be_negative(node.args[1]) or a.facts.subtracts
        if not all(a.value(argument) <= WHOLE for argument in node.args) or negative:
            raise Refused("uses pow() with three values that may be unusual", node)
        a.diverges(node, "ValueError", "pow()")
        return INT
    return expressions.binary(
        a, ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node),
        a.value(node.args[0]), ast.Pow(), a.value(node.args[1]), node.args[1],
    )  # fmt: skip


def _ord(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"str", "any"}:
        raise Refused("uses ord() on something other than text", node)
    return INT


def _divmod(a: Analysis, node: ast.Call) -> Kinds:
    left, right = a.value(node.args[0]), a.value(node.args[1])
    if not (left <= NUMBERS and right <= NUMBERS):
        raise Refused("uses divmod() on values of unknown kind", node)
    a.diverges(node, "ZeroDivisionError", "divmod()")
    expressions.note_division(a, node, "divmod", left, right)
    number = INT if left <= WHOLE and right <= WHOLE else FLOAT
    made = a.thing(node, "tuple")
    for position in (0, 1):
        a.flow(number, made.fields.setdefault(position, set()))
    return frozenset({made})


def _counter(a: Analysis, node: ast.Call) -> Kinds:
    keys: Kinds = STR if node.keywords else NOTHING
    for keyword in node.keywords:
        if not a.value(keyword.value) <= INT:
            raise Refused("counts in something other than whole numbers", node)
    if node.args:
        kinds = NOTHING if lazy.is_lazy(a, node.args[0]) else a.value(node.args[0])
        if any(shape_of(kind) in ("dict", "Counter") for kind in kinds):
            if any(isinstance(kind, Thing) and not kind.held() <= NUMBERS | ANY for kind in kinds):
                raise Refused("counts in something other than numbers", node)
            keys = frozenset().union(*(kind.keys for kind in kinds if isinstance(kind, Thing)))
        else:
            keys = lazy.consume(a, node.args[0])
    return a.holding(node, "Counter", INT, keys)


def _defaultdict(a: Analysis, node: ast.Call) -> Kinds:
    made = a.thing(node, "defaultdict")
    if node.args:
        factory = a.value(node.args[0])
        a.flow(calls.call_kinds(a, factory, [], node), made.items)
        if any(shape_of(kind) in ("function", "class") for kind in factory):
            made.name = "own factory"
    return frozenset({made})


def _deque(a: Analysis, node: ast.Call) -> Kinds:
    for keyword in node.keywords:
        a.value(keyword.value)
    for extra in node.args[1:]:
        a.value(extra)
    return a.holding(node, "deque", lazy.consume(a, node.args[0]) if node.args else NOTHING)


def _namedtuple(a: Analysis, node: ast.Call) -> Kinds:
    fields = node.args[1]
    names: list[str] = []
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    elif isinstance(fields, ast.List | ast.Tuple):
        names = [str(element.value) for element in fields.elts if isinstance(element, ast.Constant)]
    if not names or not all(name.isidentifier() for name in names) or not isinstance(node.args[0], ast.Constant):
        raise Refused("makes a namedtuple with fields that are not literals", node)
    made = a.thing(node, "record")
    for name in names:
        made.fields.setdefault(name, set())
    return frozenset({made})


def _dumps(a: Analysis, node: ast.Call) -> Kinds:
    kinds = a.value(node.args[0])
    a.check_shown(kinds, node)
    _check_jsonable(a, kinds, node, set())
    for keyword in node.keywords:
        a.value(keyword.value)
        if keyword.arg == "separators" and not isinstance(keyword.value, ast.Tuple):
            raise Refused("gives json.dumps separators that are not literals", node)
    a.diverges(node, "TypeError", "json.dumps()")
    a.diverges(node, "ValueError", "json.dumps()")
    return STR


def _check_jsonable(a: Analysis, kinds: Kinds | set[Kind], node: ast.AST, seen: set[int]) -> None:
    for kind in kinds:
        if isinstance(kind, Thing):
            if kind.shape not in ("list", "tuple", "dict", "Counter", "defaultdict"):
                raise Refused(f"writes a {kind.shape} as JSON", node)
            if id(kind) not in seen:
                seen.add(id(kind))
                _check_jsonable(a, kind.held(), node, seen)
        elif kind not in ("any", "int", "float", "bool", "str", "none"):
            raise Refused(f"writes a {kind} as JSON", node)


def _loads(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    text = calls.literal(a, node.args[0])
    if text is not None and not _is_json(text):
        raise Refused("loads JSON that is wrong", node)
    a.diverges(node, "JSONDecodeError", "json.loads()")
    a.diverges(node, "TypeError", "json.loads()")
    return ANY


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _reduce(a: Analysis, node: ast.Call) -> Kinds:
    items = lazy.consume(a, node.args[1])
    result = items | (a.value(node.args[2]) if len(node.args) > 2 else NOTHING)
    for _ in range(3):
        result |= calls.call_kinds(a, a.value(node.args[0]), [result, items], node)
    a.diverges(node, "TypeError", "reduce()")
    return result


def _copied(a: Analysis, node: ast.Call) -> Kinds:
    kinds = a.value(node.args[0])
    if any(isinstance(kind, Thing) and kind.shape not in ("list", "dict", "tuple") for kind in kinds):
        raise Refused("copies something other than plain data", node)
    return kinds


def _gather(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    for argument in node.args:
        kinds = lazy.consume(a, argument.value) if isinstance(argument, ast.Starred) else a.value(argument)
        for kind in kinds:
            if not isinstance(kind, Thing) or kind.shape != "coroutine":
                raise Refused("gathers something that is not a coroutine", node)
            if isinstance(kind.node, ast.AsyncFunctionDef) and not _is_silent(kind.node):
                raise Refused("gathers functions that can be seen at work", node)
            result |= kind.items
    made = a.holding(node, "list", result)
    return a.holding(node, "coroutine", made)


def _is_silent(function: ast.AsyncFunctionDef) -> bool:
    """Whether the order in which it runs beside others cannot be seen."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Raise | ast.AugAssign):
            return False
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) or node.func.id not in QUIET_CALLS:  # type: ignore[attr-defined]
                return False
    return True


QUIET_CALLS = frozenset({"call_tool", "len", "sum", "str", "int", "float", "range", "sorted", "dict", "list", "round"})


def _sleep(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    return a.holding(node, "coroutine", NONE)


def _asyncio_run(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    if a.scope is not a.module or a.facts.awaits_at_top or a.facts.returns_at_top:
        raise Refused("calls asyncio.run() where a loop may be running", node)
    for kind in a.value(node.args[0]):
        if not isinstance(kind, Thing) or not isinstance(kind.node, ast.AsyncFunctionDef):
            raise Refused("runs something that is not a coroutine", node)
        result |= kind.items
    return frozenset(result)


def _choice(a: Analysis, node: ast.Call) -> Kinds:
    a.diverges(node, "IndexError", "random.choice()")
    return lazy.iterate(a, a.value(node.args[0]), node)


def _shuffle(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    return NONE


def _sample(a: Analysis, node: ast.Call) -> Kinds:
    for extra in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
        if not a.value(extra) <= INT:
            raise Refused("samples a number of unknown kind", node)
    return a.holding(node, "list", lazy.iterate(a, a.value(node.args[0]), node))


def _randint(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        if not a.value(argument) <= INT:
            raise Refused("calls random with something other than whole numbers", node)
    return INT


def _field(a: Analysis, node: ast.Call) -> Kinds:
    for keyword in node.keywords:
        a.value(keyword.value)
    return NOTHING


def _partial(a: Analysis, node: ast.Call) -> Kinds:
    made = a.thing(node, "partial")
    a.flow(a.value(node.args[0]), made.items)
    for place, argument in enumerate(node.args[1:]):
        a.flow(a.value(argument), made.fields.setdefault(place, set()))
    for keyword in node.keywords:
        a.flow(a.value(keyword.value), made.fields.setdefault(keyword.arg, set()))
    return frozenset({made})


def _hash(a: Analysis, node: ast.Call) -> Kinds:
    """Hashes differ; where one is only what `__hash__` gives, nobody sees it."""
    inside = a.scope.thing.node if a.scope.thing is not None else None
    if not isinstance(inside, ast.FunctionDef) or inside.name != "__hash__":
        raise Refused("uses hash", node)
    a.value(node.args[0])
    return INT


def _open(a: Analysis, node: ast.Call) -> Kinds:
    mode = node.args[1] if len(node.args) > 1 else ast.Constant("r")
    for keyword in node.keywords:
        if keyword.arg == "mode":
            mode = keyword.value
        elif not isinstance(keyword.value, ast.Constant) or keyword.value.value not in ("utf-8", "", None):
            raise Refused(f"opens a file with another {keyword.arg}", node)
    if not isinstance(mode, ast.Constant) or mode.value not in ("r", "rb", "w", "rt"):
        raise Refused("opens a file in an unusual mode", node)
    check_path(a, node.args[0])
    return frozenset({"binary file" if mode.value == "rb" else "text file"})


def check_path(a: Analysis, node: ast.expr) -> None:
    """Only what a run itself is given or makes is the same everywhere."""
    if not a.value(node) <= {"str", "any", "path"}:
        raise Refused("opens something that is not a path", node)
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        text = node.values[0].value
    elif isinstance(node, ast.JoinedStr):
        raise Refused("opens a path that is put together", node)
    if isinstance(text, str) and not text.startswith(("/files/", "/tmp/")):  # noqa: S108  a path of the guest's
        raise Refused("opens a file that was not attached", node)
    a.diverges(node, "OSError", "opening a file")


def _path(a: Analysis, node: ast.Call) -> Kinds:
    check_path(a, node.args[0])
    return frozenset({"path"})


def _json_load(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"text file"}:
        raise Refused("loads JSON from something other than a text file", node)
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
    "print": _print,
    "len": _len,
    "str": _str,
    "repr": _repr,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "list": _list,
    "tuple": _tuple,
    "set": _set_of("set"),
    "frozenset": _set_of("frozenset"),
    "dict": _dict,
    "sorted": _sorted,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "any": _any_all,
    "all": _any_all,
    "isinstance": _isinstance,
    "type": _type,
    "iter": _iter,
    "next": _next,
    "range": _range,
    "abs": _abs,
    "round": _round,
    "pow": _pow,
    "divmod": _divmod,
    "ord": _ord,
    "collections.Counter": _counter,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
    "collections.namedtuple": _namedtuple,
    "json.dumps": _dumps,
    "json.loads": _loads,
    "functools.reduce": _reduce,
    "copy.copy": _copied,
    "copy.deepcopy": _copied,
    "asyncio.gather": _gather,
    "asyncio.sleep": _sleep,
    "asyncio.run": _asyncio_run,
    "random.choice": _choice,
    "random.shuffle": _shuffle,
    "random.sample": _sample,
    "random.randint": _randint,
    "random.randrange": _randint,
    "dataclasses.field": _field,
    "functools.partial": _partial,
    "hash": _hash,
    "open": _open,
    "pathlib.Path": _path,
    "json.load": _json_load,
    "csv.reader": _csv_rows("list"),
    "csv.DictReader": _csv_rows("dict"),
}
