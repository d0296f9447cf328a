"""Calls: what is called, and who knows what it gives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from paddock.planning.light import (
    builtins,
    conversions,
    coroutines,
    dates,
    exceptions,
    files,
    functions,
    iterators,
    lazy,
    methods,
    modules,
    objects,
    records,
    results,
    searches,
    signatures,
)
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, BOOL, FLOAT, INT, NOTHING, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def call(a: Analysis, node: ast.Call) -> Kinds:
    """Any call in the script."""
    if isinstance(node.func, ast.Attribute):
        return methods.call(a, node, node.func)
    called = a.value(node.func)
    if not called and isinstance(node.func, ast.Name) and node.func.id in a.unknown:
        if not all(isinstance(argument, ast.Constant) for argument in node.args) or node.keywords:
            raise Refused("calls something that is not there", node)
    elif not called:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(argument, ast.Starred) and not lazy.is_lazy(a, argument):
                a.value(argument)
    result: set[Kind] = set()
    for kind in in_order(called):
        result |= call_one(a, node, kind)
    return frozenset(result)


def call_one(a: Analysis, node: ast.Call, kind: Kind) -> Kinds:
    """What the call at `node` gives where a value of this kind is called."""
    known = _called().get(shape_of(kind))
    if known is None or not isinstance(kind, Thing):
        raise Refused(f"calls a value of kind {shape_of(kind)}", node)
    return known(a, node, kind)


@cache
def _called() -> dict[str, Callable[[Analysis, ast.Call, Thing], Kinds]]:
    # Made when first asked for: these modules import one another.
    return {
        "builtin": _builtin,
        "function": functions.call,
        "class": objects.instantiate,
        "instance": objects.call,
        "exception class": exceptions.make,
        "type": dates.make,
        "record": records.make,
        "partial": functions.call_partial,
        "tool": _tool,
        "decorator": _dataclass,
    }


def _dataclass(a: Analysis, node: ast.Call, decorator: Thing) -> Kinds:
    for keyword in node.keywords:
        if keyword.arg != "frozen":
            raise Refused(f"uses dataclass({keyword.arg}=…)", node)
    return frozenset({decorator})


def call_kinds(a: Analysis, called: Kinds, arguments: list[Kinds], node: ast.AST) -> Kinds:
    """What a function that is passed around gives when something else calls it with `arguments`."""
    result: set[Kind] = set()
    for kind in in_order(called):
        if not isinstance(kind, Thing):
            if kind == "none":
                continue
            raise Refused("calls a value of unknown kind", node)
        if kind.shape == "function":
            result |= functions.enter(a, kind, arguments, {}, node, way="back")
        elif kind.shape == "builtin" and kind.name in PASSED:
            result |= _passed_builtin(a, kind.name, arguments, node)
        elif kind.shape == "class":
            result |= objects.make(a, node, kind, arguments, {})
        elif kind.shape == "partial":
            result |= functions.enter_partial(a, kind, arguments, {}, node)
        else:
            raise Refused(f"passes a {kind.shape} {kind.name} to be called", node)
    if any(shape_of(kind) == "coroutine" for kind in result):
        raise Refused("passes an asynchronous function to be called", node)
    return frozenset(result)


PASSED = {
    "str": STR, "int": INT, "float": FLOAT, "len": INT, "abs": NOTHING, "bool": BOOL, "repr": STR, "ord": INT,
    "chr": STR, "sum": NOTHING, "max": NOTHING, "min": NOTHING, "list": NOTHING, "tuple": NOTHING, "dict": NOTHING,
    "set": NOTHING,
}  # fmt: skip


def _passed_builtin(a: Analysis, name: str, arguments: list[Kinds], node: ast.AST) -> Kinds:
    given = arguments[0] if arguments else NOTHING
    if name in ("int", "float"):
        conversions.check_digits(a, node)
    if name in ("str", "repr"):
        a.check_shown(given, node)
    if name in ("sum", "max", "min", "abs"):
        if len(arguments) > 1:
            return frozenset().union(*arguments)
        return given if name == "abs" else lazy.iterate(a, given, node, ordered=name == "sum")
    if name in ("list", "tuple"):
        return a.holding(node, name, lazy.iterate(a, given, node) if arguments else NOTHING, tag="passed")
    if name in ("set", "dict"):
        if arguments:
            raise Refused(f"passes {name} to be called", node)
        return a.holding(node, name, NOTHING, tag="passed")
    return PASSED[name]


TOOL_ARGUMENTS = {
    "call_tool": (1, 2, {"params", "arguments"}),
    "report_progress": (1, 3, {"total", "message"}),
    "create_artifact": (2, 3, {"file_type"}),
}


def _tool(a: Analysis, node: ast.Call, tool: Thing) -> Kinds:
    least, most, allowed = TOOL_ARGUMENTS.get(tool.name, (0, 1, set()))
    positional, keywords = functions.arguments_of(a, node)
    if not least <= len(positional) <= most or not keywords.keys() <= allowed or functions.spreads(node):
        raise Refused(f"calls {tool.name} with the wrong arguments", node)
    for kinds in (*positional, *keywords.values()):
        a.check_shown(kinds, node)
    return a.holding(node, "coroutine", ANY)


PLAIN_DATA = frozenset({"list", "tuple", "dict", "Counter", "defaultdict", "deque", "range", "view", "record value"})


def _builtin(a: Analysis, node: ast.Call, function: Thing) -> Kinds:
    name = function.name
    if name in lazy.LAZY:
        raise Refused(f"keeps what {name}() gives", node)
    signature = signatures.of_name(name)
    signatures.check(node, signature, name)
    if name.startswith("itertools."):
        return iterators.itertool(a, node, name.removeprefix("itertools."))
    handler = _handlers().get(name)
    if handler is not None:
        return handler(a, node)
    arguments = [a.value(argument) for argument in node.args if not isinstance(argument, ast.Starred)]
    for keyword in node.keywords:
        a.value(keyword.value)
    if len(arguments) != len(node.args):
        raise Refused(f"unpacks the arguments of {name}()", node)
    module, _, short = name.rpartition(".")
    if module == "math":
        return modules.math(a, node, short, arguments, signature)
    if module == "re":
        return searches.call(a, node, short, signature)
    for kinds in arguments:
        if any(isinstance(kind, Thing) and kind.shape not in PLAIN_DATA for kind in kinds):
            raise Refused(f"passes a {[shape_of(kind) for kind in in_order(kinds)]} to {name}()", node)
    return results.plain(a, node, signature.result)


@cache
def _handlers() -> dict[str, Callable[[Analysis, ast.Call], Kinds]]:
    tables = (builtins.HANDLERS, conversions.HANDLERS, modules.HANDLERS, coroutines.HANDLERS, files.HANDLERS)
    own = {"collections.namedtuple": records.namedtuple, "functools.partial": functions.bind_partial}
    return {name: handler for table in (*tables, own) for name, handler in table.items()}
