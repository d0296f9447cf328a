"""Functions of the standard library whose result depends on what they are given."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import calls, depths, lazy, results, signatures, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, INT, NONE, NOTHING, NUMBERS, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def math(a: Analysis, node: ast.Call, function: str, arguments: list[Kinds], signature: signatures.Signature) -> Kinds:
    """`math.function(…)`."""
    a.diverges(node, "ValueError", f"math.{function}()")
    a.diverges(node, "TypeError", f"math.{function}()")
    a.diverges(node, "OverflowError", f"math.{function}()")
    if function == "prod":
        return NUMBERS
    if function in ("floor", "ceil", "trunc") and any(shape_of(kind) == "instance" for kind in arguments[0]):
        raise Refused(f"passes an object to math.{function}()", node)
    return results.plain(a, node, signature.result)


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
            for kind in in_order(kinds):
                if isinstance(kind, Thing):
                    keys |= kind.keys
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
    for kind in in_order(kinds):
        if isinstance(kind, Thing):
            if kind.shape not in ("list", "tuple", "dict", "Counter", "defaultdict"):
                raise Refused(f"writes a {kind.shape} as JSON", node)
            if id(kind) not in seen:
                seen.add(id(kind))
                _check_jsonable(a, kind.held(), node, seen)
        elif kind not in ("any", "int", "float", "bool", "str", "none"):
            raise Refused(f"writes a {kind} as JSON", node)


def _loads(a: Analysis, node: ast.Call) -> Kinds:
    if any(str(kind).startswith("datetime.") for kind in a.value(node.args[0])):
        raise Refused("loads JSON from a date", node)
    text = a.literal(node.args[0])
    if text is not None and not _is_json(text):
        raise Refused("loads JSON that is wrong", node)
    check_own_text(a, node, texts.JSON)
    if a.facts.farthest >= depths.NESTED and any(_repeats_bracket(inner) for inner in a.facts.nodes):
        raise Refused("loads JSON that may be nested hundreds of times", node)
    a.diverges(node, "JSONDecodeError", "json.loads()")
    a.diverges(node, "TypeError", "json.loads()")
    return ANY


def _b64decode(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"str", "bytes", "any"}:
        raise Refused("decodes something that may not be text", node)
    source = node.args[0]
    if isinstance(source, ast.Name):
        source = a.facts.single(source.id) or source
    if any(
        isinstance(inner, ast.BinOp | ast.JoinedStr) or getattr(inner, "attr", "") == "join"
        for inner in ast.walk(source)
    ):
        raise Refused("decodes base64 that is put together", node)
    if a.facts.text_uses & texts.DOINGS.keys():
        raise Refused("decodes base64, and looks at characters", node)
    check_own_text(a, node, texts.BASE64)
    return frozenset({"bytes"})


def check_own_text(a: Analysis, node: ast.AST, use: str) -> None:
    """Refuse what the script's own text would make of JSON or base64."""
    for inner in a.facts.nodes:
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str | bytes):
            trouble = texts.problem(frozenset({use}), texts.plain(inner.value))
            if trouble is not None:
                raise Refused(trouble, node)


def _seed(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"int", "float", "bool", "str", "bytes", "none", "any"}:
        raise Refused("seeds random with something unusual", node)
    a.diverges(node, "TypeError", "random.seed()")
    return NONE


def _repeats_bracket(node: ast.AST) -> bool:
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else ()
    return any(
        isinstance(side, ast.Constant) and isinstance(side.value, str) and set(side.value) & set("[{") for side in sides
    )


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
    depths.check_nested(a, kinds, node, "copies")
    return kinds


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


HANDLERS: dict[str, Callable[[Analysis, ast.Call], Kinds]] = {
    "collections.Counter": _counter,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
    "json.dumps": _dumps,
    "json.loads": _loads,
    "functools.reduce": _reduce,
    "copy.copy": _copied,
    "copy.deepcopy": _copied,
    "base64.b64decode": _b64decode,
    "random.seed": _seed,
    "random.choice": _choice,
    "random.shuffle": _shuffle,
    "random.sample": _sample,
    "random.randint": _randint,
    "random.randrange": _randint,
    "dataclasses.field": _field,
}
