"""Calls: of the script's own functions and classes, of builtins, of methods, of module functions."""

from __future__ import annotations

import ast
import datetime
import re
import string
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from paddock.planning.light import builtins, expressions, iterators, lazy, patterns
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope
from paddock.planning.light.tables import BUILTINS, METHODS, MODULES, UNKNOWN_RECEIVER
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


@dataclass(frozen=True, slots=True)
class Signature:
    """How often and how a function may be called, and what it gives."""

    least: int
    most: int
    keywords: frozenset[str]
    result: str


@lru_cache(maxsize=1024)
def parse_signature(text: str) -> Signature:
    match = re.fullmatch(r"(\d+)-(\d+)(?:\[([^\]]*)\])? (.*)", text)
    if match is None:
        raise ValueError(f"bad table entry {text!r}")
    least, most, keywords, result = match.groups()
    return Signature(int(least), int(most), frozenset((keywords or "").split(",")) - {""}, result)


def signature_of(name: str) -> Signature:
    """The signature of a builtin (`len`) or module function (`math.sqrt`)."""
    module, _, attribute = name.rpartition(".")
    return parse_signature(MODULES[module][attribute] if module else BUILTINS[name])


def check_arguments(node: ast.Call, signature: Signature, name: str) -> None:
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if len(node.args) > signature.most or (len(node.args) < signature.least and not starred):
        raise Refused(f"calls {name}() with {len(node.args)} arguments", node)
    if starred and signature.most < 9:
        raise Refused(f"unpacks the arguments of {name}()", node)
    for keyword in node.keywords:
        if keyword.arg not in signature.keywords and ("*" not in signature.keywords or keyword.arg is None):
            raise Refused(f"calls {name}() with {keyword.arg or '**'}", node)


def call(a: Analysis, node: ast.Call) -> Kinds:
    """Any call in the script."""
    if isinstance(node.func, ast.Attribute):
        return _attribute_call(a, node, node.func)
    result: set[Kind] = set()
    functions = a.value(node.func)
    if not functions and isinstance(node.func, ast.Name) and node.func.id in a.unknown:
        if not all(isinstance(argument, ast.Constant) for argument in node.args) or node.keywords:
            raise Refused("calls something that is not there", node)
    elif not functions:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(argument, ast.Starred) and not lazy.is_lazy(a, argument):
                a.value(argument)
    for kind in functions:
        result |= _call_one(a, node, kind)
    return frozenset(result)


def _call_one(a: Analysis, node: ast.Call, kind: Kind) -> Kinds:
    if isinstance(kind, Thing):
        if kind.shape == "builtin":
            return _builtin(a, node, kind.name)
        if kind.shape == "function":
            return _own_function(a, node, kind, None)
        if kind.shape == "class":
            return _instantiate(a, node, kind)
        if kind.shape == "exception class":
            return _exception(a, node, kind)
        if kind.shape == "type":
            return _time_type(a, node, kind.name)
        if kind.shape == "record":
            return _record_value(a, node, kind)
        if kind.shape == "tool":
            return _tool(a, node, kind.name)
        if kind.shape == "partial":
            positional, keywords = _arguments(a, node)
            if _spreads(node):
                raise Refused("unpacks the arguments of a partial function", node)
            return _call_partial(a, kind, positional, keywords, node)
        if kind.shape == "instance":
            return _own_function_of(a, node, kind, "__call__")
        if kind.shape == "decorator":
            for keyword in node.keywords:
                if keyword.arg != "frozen":
                    raise Refused(f"uses dataclass({keyword.arg}=…)", node)
            return frozenset({kind})
    raise Refused(f"calls a value of kind {shape_of(kind)}", node)


def call_kinds(a: Analysis, functions: Kinds, arguments: list[Kinds], node: ast.AST) -> Kinds:
    """What a function that is passed around gives when something else calls it with `arguments`."""
    result: set[Kind] = set()
    for kind in functions:
        if not isinstance(kind, Thing):
            if kind == "none":
                continue
            raise Refused("calls a value of unknown kind", node)
        if kind.shape == "function":
            result |= _enter(a, kind, arguments, {}, node)
        elif kind.shape == "builtin" and "." not in kind.name and kind.name in PASSED:
            result |= _passed_builtin(a, kind.name, arguments, node)
        elif kind.shape == "class":
            result |= _made(a, node, kind, arguments, {})
        elif kind.shape == "partial":
            result |= _call_partial(a, kind, arguments, {}, node)
        else:
            raise Refused(f"passes a {kind.shape} {kind.name} to be called", node)
    return frozenset(result)


def _call_partial(
    a: Analysis, partial: Thing, positional: list[Kinds], keywords: dict[str, Kinds], node: ast.AST
) -> Kinds:
    """Call what `functools.partial` bound, with its arguments before these."""
    bound = [frozenset(partial.fields[place]) for place in sorted(k for k in partial.fields if isinstance(k, int))]
    named = {name: frozenset(kinds) for name, kinds in partial.fields.items() if isinstance(name, str)}
    result: set[Kind] = set()
    for kind in partial.items:
        if not isinstance(kind, Thing) or kind.shape != "function":
            raise Refused("binds arguments of something other than a function", node)
        result |= _enter(a, kind, [*bound, *positional], {**named, **keywords}, node)
    return frozenset(result)


PASSED = {
    "str": STR, "int": INT, "float": FLOAT, "len": INT, "abs": NOTHING, "bool": BOOL, "repr": STR, "ord": INT,
    "chr": STR, "sum": NOTHING, "max": NOTHING, "min": NOTHING, "list": NOTHING, "tuple": NOTHING, "dict": NOTHING,
    "set": NOTHING,
}  # fmt: skip


def _passed_builtin(a: Analysis, name: str, arguments: list[Kinds], node: ast.AST) -> Kinds:
    given = arguments[0] if arguments else NOTHING
    if name in ("int", "float") and not a.facts.is_ascii:
        raise Refused("converts text to a number where not all text is ASCII", node)
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


# The script's own functions and classes.


def _own_function(a: Analysis, node: ast.Call, function: Thing, receiver: Kinds | None) -> Kinds:
    positional, keywords = _arguments(a, node)
    if receiver is not None:
        positional.insert(0, receiver)
    return _enter(a, function, positional, keywords, node, spread=_spreads(node))


def _spreads(node: ast.Call) -> bool:
    """Whether the number of arguments depends on a value."""
    doubled = [keyword for keyword in node.keywords if keyword.arg is None]
    if doubled and len(node.keywords) > 1:
        raise Refused("unpacks a dict beside other keywords", node)
    return bool(doubled) or any(isinstance(argument, ast.Starred) for argument in node.args)


def _own_function_of(a: Analysis, node: ast.Call, instance: Thing, name: str) -> Kinds:
    positional, keywords = _arguments(a, node)
    owner = instance.of
    found = owner.scope.names.get(name, set()) if owner is not None and isinstance(owner.scope, Scope) else set()
    result: set[Kind] = set()
    own = instance.fields.get(name, set()) | (owner.fields.get(name, set()) if owner is not None else set())
    if own:
        result |= call_kinds(a, frozenset(own), positional, node)
    if not found and not own:
        raise Refused(f"calls the method {name}, which its class does not have", node)
    spread = _spreads(node)
    for kind in found:
        if not isinstance(kind, Thing) or kind.shape != "function":
            raise Refused(f"calls {name}, which is not a method", node)
        result |= _enter(a, kind, [frozenset({instance}), *positional], keywords, node, spread=spread)
    return frozenset(result)


def method(a: Analysis, node: ast.AST, instance: Thing, name: str, arguments: list[Kinds]) -> Kinds:
    """Call a special method of one of the script's own objects."""
    owner = instance.of
    found = owner.scope.names.get(name, set()) if owner is not None and isinstance(owner.scope, Scope) else set()
    if not found:
        raise Refused(f"needs {name} of an object that has none", node)
    return call_kinds(a, frozenset(found), [frozenset({instance}), *arguments], node)


SPECIAL = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.USub: "__neg__",
    ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__",
}  # fmt: skip


def special(a: Analysis, node: ast.AST, left: Thing, op: ast.operator | ast.unaryop, right: Kind | None) -> Kinds:
    name = SPECIAL.get(type(op))
    if name is None:
        raise Refused("uses an operator on an object", node)
    return method(a, node, left, name, [] if right is None else [frozenset({right})])


def _arguments(a: Analysis, node: ast.Call) -> tuple[list[Kinds], dict[str, Kinds]]:
    positional: list[Kinds] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            positional.append(lazy.consume(a, argument.value))
        else:
            positional.append(a.value(argument))
    keywords: dict[str, Kinds] = {}
    for keyword in node.keywords:
        kinds = a.value(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = kinds
        else:
            for kind in kinds:
                if not (kind == "any" or shape_of(kind) == "dict"):
                    raise Refused("unpacks something other than a dict into a call", node)
                if isinstance(kind, Thing):
                    positional.append(frozenset(kind.held()))
    return positional, keywords


def _enter(
    a: Analysis,
    function: Thing,
    positional: list[Kinds],
    keywords: dict[str, Kinds],
    node: ast.AST,
    *,
    spread: bool = False,
) -> Kinds:
    """Bind the arguments of a call to the parameters, note that the function is reached, give what it returns."""
    scope, definition = function.scope, function.node
    if not isinstance(scope, Scope) or not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        raise Refused("calls something that is not a function", node)
    arguments = definition.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    if not spread:
        _check_arity(function, definition, len(positional), keywords, node)
    everything: Kinds = frozenset().union(ANY, *positional, *keywords.values())
    if spread:
        for name in (*names, *keyword_only):
            a.flow(everything, scope.names[name])
    for name, kinds in zip(names, positional, strict=False):
        a.flow(kinds, scope.names[name])
    for name, default in function.fields.items():
        a.flow(default, scope.names[str(name)])
    for name, kinds in keywords.items():
        if name in names or name in keyword_only:
            a.flow(kinds, scope.names[name])
    if arguments.vararg is not None:
        rest = frozenset().union(NOTHING, *positional[len(names) :]) | (everything if spread else NOTHING)
        a.flow(a.holding(arguments.vararg, "tuple", rest), scope.names[arguments.vararg.arg])
    if arguments.kwarg is not None:
        extra = {name: kinds for name, kinds in keywords.items() if name not in names and name not in keyword_only}
        values = frozenset().union(NOTHING, *extra.values()) | (everything if spread else NOTHING)
        a.flow(a.holding(arguments.kwarg, "dict", values, STR), scope.names[arguments.kwarg.arg])
    if not a.catches <= scope.catches:
        scope.catches |= a.catches
        a.changed = True
    a.reached.setdefault(id(definition), function)
    if isinstance(definition, ast.AsyncFunctionDef):
        return a.holding(definition, "coroutine", scope.returned, tag="call")
    return frozenset(scope.returned)


def _check_arity(
    function: Thing,
    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    count: int,
    keywords: dict[str, Kinds],
    node: ast.AST,
) -> None:
    """Refuse a call that is certain to fail: the line that Monty reports for it is another one."""
    arguments = definition.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    by_name = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    given = set(positional[:count])
    wrong = (
        (count > len(positional) and arguments.vararg is None)
        or bool(given & keywords.keys())
        or (arguments.kwarg is None and not keywords.keys() <= by_name)
    )
    needed = set(positional[: len(positional) - len(arguments.defaults)])
    needed |= {
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    }
    if wrong or not needed <= given | keywords.keys():
        raise Refused(f"calls {getattr(definition, 'name', 'a lambda')}() with the wrong arguments", node)


def _instantiate(a: Analysis, node: ast.Call, made: Thing) -> Kinds:
    positional, keywords = _arguments(a, node)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        raise Refused("unpacks the arguments of a class", node)
    return _made(a, node, made, positional, keywords)


def _made(a: Analysis, node: ast.AST, made: Thing, positional: list[Kinds], keywords: dict[str, Kinds]) -> Kinds:
    if made.node is None or not isinstance(made.scope, Scope):
        raise Refused("makes an object of an unknown class", node)
    instance = a.thing(made.node, "instance")
    instance.of = made
    if made.name == "dataclass":
        _reach_special_methods(a, made, instance, node)
        _fill_dataclass(a, node, made, instance, positional, keywords)
        return frozenset({instance})
    _reach_special_methods(a, made, instance, node)
    found = made.scope.names.get("__init__", set())
    if not found and (positional or keywords):
        raise Refused("makes an object with arguments that its class does not take", node)
    for kind in found:
        if isinstance(kind, Thing) and kind.shape == "function":
            _enter(a, kind, [frozenset({instance}), *positional], keywords, node)
    return frozenset({instance})


def _reach_special_methods(a: Analysis, made: Thing, instance: Thing, node: ast.AST) -> None:
    """Special methods are called from anywhere, with anything: follow them as soon as there is an object."""
    if not isinstance(made.scope, Scope):
        return
    for name, kinds in made.scope.names.items():
        if not (name.startswith("__") and name.endswith("__")) or name == "__init__":
            continue
        for kind in kinds:
            if isinstance(kind, Thing) and isinstance(kind.node, ast.FunctionDef):
                others = len(kind.node.args.args) - 1
                if others >= 0 and name not in ("__call__", "__setitem__"):
                    other = (
                        ANY if name in ("__getitem__", "__contains__", "__pow__", "__mul__", "__rmul__") else {instance}
                    )
                    _enter(a, kind, [frozenset({instance}), *[frozenset(other)] * others], {}, node)


def _fill_dataclass(
    a: Analysis, node: ast.AST, made: Thing, instance: Thing, positional: list[Kinds], keywords: dict[str, Kinds]
) -> None:
    if not isinstance(made.node, ast.ClassDef) or not isinstance(made.scope, Scope):
        return
    declared = [s for s in made.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    names = [s.target.id for s in declared if isinstance(s.target, ast.Name)]
    needed = {s.target.id for s in declared if s.value is None and isinstance(s.target, ast.Name)}
    given = {*names[: len(positional)], *keywords}
    if len(positional) > len(names) or not keywords.keys() <= set(names) or not needed <= given:
        raise Refused("makes a dataclass with the wrong arguments", node)
    for name, kinds in (*zip(names, positional, strict=False), *keywords.items()):
        a.flow(kinds, instance.fields.setdefault(name, set()))
    for statement in declared:
        if statement.value is not None and isinstance(statement.target, ast.Name):
            if any(shape_of(kind) in ("function", "builtin", "class") for kind in _default(a, statement.value)):
                raise Refused("has a function in a dataclass", statement)
            a.flow(_default(a, statement.value), instance.fields.setdefault(statement.target.id, set()))


def _default(a: Analysis, value: ast.expr) -> Kinds:
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "default_factory":
                return call_kinds(a, a.value(keyword.value), [], keyword)
            if keyword.arg == "default":
                return a.value(keyword.value)
    return a.value(value)


def _exception(a: Analysis, node: ast.Call, kind: Thing) -> Kinds:
    if node.keywords or len(node.args) > 1:
        raise Refused("makes an exception with several arguments", node)
    if node.args and not a.value(node.args[0]) <= STR:
        raise Refused("makes an exception from something that is not text", node)
    made = a.thing(node, "exception")
    made.name = kind.name
    return frozenset({made})


def _record_value(a: Analysis, node: ast.Call, record: Thing) -> Kinds:
    positional, keywords = _arguments(a, node)
    names = [str(name) for name in record.fields]
    if len(positional) + len(keywords) != len(names) or not keywords.keys() <= set(names[len(positional) :]):
        raise Refused("makes a namedtuple with the wrong arguments", node)
    made = a.thing(record.node or node, "record value")
    for name, kinds in (*zip(names, positional, strict=False), *keywords.items()):
        a.flow(kinds, made.fields.setdefault(name, set()))
    return frozenset({made})


TOOL_ARGUMENTS = {
    "call_tool": (1, 2, {"params", "arguments"}),
    "report_progress": (1, 3, {"total", "message"}),
}


def _tool(a: Analysis, node: ast.Call, name: str) -> Kinds:
    least, most, allowed = TOOL_ARGUMENTS.get(name, (0, 1, set()))
    positional, keywords = _arguments(a, node)
    if not least <= len(positional) <= most or not keywords.keys() <= allowed or _spreads(node):
        raise Refused(f"calls {name} with the wrong arguments", node)
    for kinds in (*positional, *keywords.values()):
        a.check_shown(kinds, node)
    return a.holding(node, "coroutine", ANY)


# Methods.


def _attribute_call(a: Analysis, node: ast.Call, target: ast.Attribute) -> Kinds:
    result: set[Kind] = set()
    if isinstance(target.value, ast.Constant) and isinstance(target.value.value, str) and target.attr == "format":
        return _format_call(a, node, target.value.value)
    receivers = a.value(target.value)
    if receivers and all(expressions.lacks(kind, target.attr) for kind in receivers):
        # CPython asks for the method first, Monty evaluates the arguments first.
        if not all(isinstance(argument, ast.Constant | ast.Name) for argument in node.args) or node.keywords:
            raise Refused(f"calls {target.attr}, which is not there", node)
    for kind in receivers:
        result |= _method_call(a, node, kind, target.attr)
    return frozenset(result)


def _method_call(a: Analysis, node: ast.Call, kind: Kind, name: str) -> Kinds:
    if isinstance(kind, Thing):
        if kind.shape == "module":
            result: set[Kind] = set()
            for found in expressions.module_attribute(a, kind.name, name, node):
                result |= _call_one(a, node, found)
            return frozenset(result)
        if kind.shape == "instance":
            return _own_function_of(a, node, kind, name)
        if kind.shape == "type" or (kind.shape == "builtin" and kind.name == "dict"):
            return _type_method(a, node, kind.name, name)
        if kind.shape == "record value":
            return _record_method(a, node, kind, name)
    shape = shape_of(kind)
    if shape == "any":
        return _unknown_method(a, node, name)
    if expressions.lacks(kind, name):
        for argument in node.args:
            if not isinstance(argument, ast.Starred) and not lazy.is_lazy(a, argument):
                a.value(argument)
        return NOTHING
    entry = METHODS.get(shape, {}).get(name)
    if entry is None:
        raise Refused(f"uses the method {name} of a {shape}", node)
    signature = parse_signature(entry)
    check_arguments(node, signature, name)
    return _method_result(a, node, kind, name, signature)


def _unknown_method(a: Analysis, node: ast.Call, name: str) -> Kinds:
    result = UNKNOWN_RECEIVER.get(name)
    if result is None:
        raise Refused(f"uses the method {name} of a value of unknown kind", node)
    if a.strict():
        raise Refused(f"uses the method {name} of a value of unknown kind where its absence is caught", node)
    for argument in node.args:
        if name == "join" and isinstance(argument, ast.GeneratorExp):
            lazy.consume(a, argument)
        else:
            kinds = a.value(argument)
            if name in lazy.MUTATORS:
                expressions.check_stored(kinds, node)
    for keyword in node.keywords:
        if keyword.arg == "key":
            call_kinds(a, a.value(keyword.value), [ANY], node)
        elif keyword.arg not in ("reverse", "sep", "maxsplit"):
            raise Refused(f"calls {name}() with {keyword.arg}", node)
    given = _plain_result(a, node, result)
    if name in ("get", "setdefault", "pop") and len(node.args) > 1:
        given |= a.value(node.args[1])
    return given


def _method_result(a: Analysis, node: ast.Call, kind: Kind, name: str, signature: Signature) -> Kinds:  # noqa: PLR0912
    shape = shape_of(kind)
    arguments = _method_arguments(a, node, kind, name)
    if isinstance(kind, Thing):
        _mutate(a, node, kind, name, arguments)
        if shape in ("dict", "defaultdict", "Counter") and name == "pop" and len(arguments) == 1:
            a.keys_read.setdefault(node.lineno, set()).update(arguments[0])
            if not arguments[0] <= STR:
                a.diverges(node, "KeyError", "pop()")
        if shape == "set" and name == "remove":
            a.keys_read.setdefault(node.lineno, set()).update(arguments[0])
        if shape == "set" and name == "remove" and not arguments[0] <= STR:
            a.diverges(node, "KeyError", "remove()")
        if name == "index" or (name == "remove" and shape == "deque"):
            a.diverges(node, "ValueError", f"{name}()")
        if name in ("popitem", "popleft", "pop") and shape == "deque":
            a.diverges(node, "IndexError", f"{name}()")
        if name == "popitem":
            a.diverges(node, "KeyError", "popitem()")
    if shape == "str":
        _check_text_method(a, node, name, arguments)
    if shape == "re.Match" and name in ("start", "end", "span") and not all(kinds <= INT for kinds in arguments):
        raise Refused(f"asks {name}() for a group by name", node)
    if shape == "re.Pattern":
        _check_pattern_method(a, node, name)
    if shape == "datetime.timedelta" and name == "total_seconds":
        return FLOAT
    if name == "strftime":
        _check_strftime(node)
    if name == "decode":
        if any(not isinstance(argument, ast.Constant) or argument.value != "utf-8" for argument in node.args):
            raise Refused("decodes bytes in another encoding", node)
        a.diverges(node, "UnicodeDecodeError", "decode()")
        return STR
    return _result(a, node, kind, signature.result, arguments)


def _method_arguments(a: Analysis, node: ast.Call, kind: Kind, name: str) -> list[Kinds]:
    if name in (
        "join",
        "extend",
        "extendleft",
        "update",
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
    ):
        ordered = shape_of(kind) not in ORDERLESS
        if name == "update" and shape_of(kind) in ("dict", "defaultdict", "Counter"):
            return [a.value(argument) for argument in node.args]
        return [lazy.consume(a, argument, ordered=ordered) for argument in node.args]
    arguments = [a.value(argument) for argument in node.args]
    for keyword in node.keywords:
        kinds = a.value(keyword.value)
        if keyword.arg == "reverse" and not kinds <= WHOLE:
            raise Refused("sorts in reverse by something that is not a truth value", node)
        if keyword.arg == "key" and isinstance(kind, Thing):
            keys = call_kinds(a, kinds, [frozenset(kind.held())], node)
            expressions.check_ordering(a, node, keys)
    if name == "sort" and isinstance(kind, Thing) and not (kind.held() <= NUMBERS or kind.held() <= STR):
        a.differs(node, "TypeError", "sort()")  # it leaves the list as far as it got
    if name == "sort" and isinstance(kind, Thing) and not node.keywords:
        expressions.check_ordering(a, node, frozenset(kind.held()))
    return arguments


def _mutate(a: Analysis, node: ast.Call, kind: Thing, name: str, arguments: list[Kinds]) -> None:
    if name in lazy.MUTATORS:
        a.note_change(kind, node)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if receiver is not None and any(ast.dump(argument) == ast.dump(receiver) for argument in node.args):
            raise Refused("puts a value into itself", node)
    if name in ("append", "appendleft", "add"):
        a.flow(arguments[0], kind.items)
        if name == "add":
            _check_elements(a, kind, node)
    elif name == "insert":
        a.flow(arguments[1], kind.items)
    elif name in ("extend", "extendleft") or (name == "update" and kind.shape == "set"):
        for items in arguments:
            a.flow(items, kind.items)
        if name == "update":
            _check_elements(a, kind, node)
    elif name == "setdefault":
        a.flow(arguments[0], kind.keys)
        a.flow(arguments[1] if len(arguments) > 1 else NONE, kind.items)
        a.check_keys(kind, node)
    elif name == "update":
        for keyword in node.keywords:
            a.flow(STR, kind.keys)
            a.flow(a.value(keyword.value), kind.fields.setdefault(keyword.arg, set()))
        for kinds in arguments:
            for other in kinds:
                if other == "any":
                    a.flow(ANY, kind.items)
                    a.flow(ANY, kind.keys)
                elif isinstance(other, Thing) and other.shape in ("dict", "defaultdict") and kind.shape != "Counter":
                    expressions.merge_dict(a, kind, other)
                elif kind.shape == "Counter":
                    a.flow(lazy.iterate(a, frozenset({other}), node), kind.keys)
                else:
                    raise Refused("updates a dict with something other than a dict", node)
        a.check_keys(kind, node)


def _check_elements(a: Analysis, kind: Thing, node: ast.AST) -> None:
    if any(shape_of(item) in ("list", "dict", "set", "any") for item in kind.items):
        a.diverges(node, "TypeError", "an unhashable element")


def _check_text_method(a: Analysis, node: ast.Call, name: str, arguments: list[Kinds]) -> None:
    if name != "join" and any(not kinds <= {"str", "int"} for kinds in arguments):
        a.diverges(node, "TypeError", f"{name}()")
    if arguments and name not in ("join", "center", "ljust", "rjust", "zfill", "format"):
        allowed = {"str", "any", "none", "tuple"}
        texts = arguments[:2] if name == "replace" else arguments[:1]
        if any(shape_of(kind) not in allowed for kinds in texts for kind in kinds):
            raise Refused(f"calls {name}() with something other than text", node)
        if name not in ("strip", "lstrip", "rstrip", "split", "rsplit") and any("none" in kinds for kinds in texts):
            raise Refused(f"calls {name}() with something that may be None", node)
    if name in ("center", "ljust", "rjust") and len(arguments) > 1 and not arguments[1] <= STR:
        raise Refused(f"calls {name}() with something other than text", node)
    if name == "join" and not arguments[0] <= STR:
        a.diverges(node, "TypeError", "join()")
    if name in ("find", "rfind", "index", "rindex", "count", "startswith", "endswith") and len(arguments) > 1:
        if not (isinstance(node.args[0], ast.Constant) and node.args[0].value):
            raise Refused(f"calls {name}() with a start and a text that may be empty", node)
    if name == "encode" and not all(isinstance(argument, ast.Constant) for argument in node.args):
        raise Refused("encodes text in an unknown encoding", node)
    if name == "encode" and any(
        isinstance(argument, ast.Constant) and argument.value not in ("utf-8", "ascii", "utf8")
        for argument in node.args
    ):
        raise Refused("encodes text in another encoding", node)
    if name == "format":
        raise Refused("formats with a template that is not a literal", node)


def _format_call(a: Analysis, node: ast.Call, template: str) -> Kinds:
    positional, keywords = _arguments(a, node)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        raise Refused("unpacks the arguments of format()", node)
    automatic = 0
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        raise Refused("formats with a template that is wrong", node) from None
    for _, field, spec, conversion in fields:
        if field is None:
            continue
        if field == "":
            field, automatic = str(automatic), automatic + 1
        if field.isdigit() and int(field) < len(positional):
            kinds = positional[int(field)]
        elif field in keywords:
            kinds = keywords[field]
        else:
            raise Refused("formats with a field that is not plain", node)
        a.check_shown(kinds, node)
        if spec:
            if "{" in spec:
                raise Refused("formats with a nested field", node)
            _check_spec(a, node, STR if conversion else kinds, spec)
    return STR


def check_format(a: Analysis, node: ast.FormattedValue, kinds: Kinds, spec: ast.expr) -> None:
    """The part of an f-string after the colon."""
    if not isinstance(spec, ast.JoinedStr):
        raise Refused("formats in an unusual way", node)
    text = ""
    for part in spec.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            inner = a.value(part.value)
            if not inner <= WHOLE:
                raise Refused("formats with a width of unknown kind", node)
            text += "9"
    if text:
        _check_spec(a, node, kinds, text)


SPEC = re.compile(r"(?:.?[<>^])?[-+ ]?#?0?\d*[,_]?(?:\.\d+)?([bcdeEfFgGnosxX%]?)")
TEXT_SPEC = re.compile(r"(?:.?[<>^])?\d*(?:\.\d+)?s?")
PAD_SPEC = re.compile(r"(?:[^<>^=+\- #0]?[<>^])?\d*")


def _check_spec(a: Analysis, node: ast.AST, kinds: Kinds, spec: str) -> None:
    for kind in kinds:
        if kind in NUMBERS:
            if not SPEC.fullmatch(spec) or spec.endswith(("n", "c", "s")):
                raise Refused(f"formats a number with {spec!r}", node)
            if kind in WHOLE and ("." in spec and spec[-1] not in "eEfFgG%"):
                raise Refused(f"formats a whole number with {spec!r}", node)
            if kind == "dyadic" and spec[-1] not in "fFeEgG%":
                raise Refused(f"formats a long binary fraction with {spec!r}", node)
            if kind == "float" and spec[-1] in "bdoxX":
                raise Refused(f"formats a float with {spec!r}", node)
            if kind == "bool":
                raise Refused("formats a truth value", node)
        elif kind == "str":
            if not TEXT_SPEC.fullmatch(spec):
                raise Refused(f"formats text with {spec!r}", node)
        elif kind == "any":
            # None, a list or a dict would be an error in CPython, and is padded in Monty.
            if spec[-1] not in "fFeE%d,x" or not SPEC.fullmatch(spec):
                raise Refused(f"formats a value of unknown kind with {spec!r}", node)
            a.differs(node, "TypeError", "a format")
            a.differs(node, "ValueError", "a format")
        elif kind in ("datetime.date", "datetime.datetime"):
            if not spec.startswith("%"):
                raise Refused(f"formats a date with {spec!r}", node)
            _check_codes(spec, node)
        else:
            raise Refused(f"formats a {shape_of(kind)} with {spec!r}", node)


CODES = frozenset("YmdHMSBbAajy%")


def _check_codes(template: str, node: ast.AST) -> None:
    used = re.findall(r"%(.)", template, re.DOTALL)
    if not set(used) <= CODES or template.endswith("%") or not template.isascii():
        raise Refused(f"formats a date with {template!r}", node)


def _check_strftime(node: ast.Call) -> None:
    template = node.args[0] if node.args else None
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        raise Refused("formats a date with a template that is not a literal", node)
    _check_codes(template.value, node)


PERCENT = re.compile(r"%(\([^)]*\))?[-+ 0#]*\d*(?:\.\d+)?([a-zA-Z%])|%")


def check_percent(a: Analysis, node: ast.AST, right: Kinds, values: ast.expr) -> None:
    """`template % values`."""
    template = getattr(node, "left", None)
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        raise Refused("formats with % and a template that is not a literal", node)
    found = [match for match in PERCENT.finditer(template.value) if match.group(2) != "%"]
    if any(match.group(1) or match.group(2) not in tuple("sdfxeg") for match in found):
        raise Refused("formats with % in an unusual way", node)
    elements = values.elts if isinstance(values, ast.Tuple) else [values]
    if len(elements) != len(found) or any(isinstance(element, ast.Starred) for element in elements):
        raise Refused("formats with % and another number of values", node)
    for match, element in zip(found, elements, strict=True):
        kinds = a.value(element)
        a.check_shown(kinds, node)
        if match.group(2) != "s" and not kinds <= NUMBERS:
            a.diverges(node, "TypeError", "%")
        if not isinstance(values, ast.Tuple) and any(shape_of(kind) in ("tuple", "dict", "any") for kind in kinds):
            raise Refused("formats with % and a value that may be a tuple", node)


# Results.


def _result(a: Analysis, node: ast.Call, kind: Kind, result: str, arguments: list[Kinds]) -> Kinds:
    held: Kinds = frozenset(kind.held()) if isinstance(kind, Thing) else NOTHING
    keys: Kinds = frozenset(kind.keys) if isinstance(kind, Thing) else NOTHING
    if result == "self":
        if not isinstance(kind, Thing):
            return frozenset({kind})
        made = a.thing(node, kind.shape, "copy")
        made.name = kind.name
        a.flow(held.union(*arguments) if kind.shape in ORDERLESS else held, made.items)
        a.flow(keys, made.keys)
        for name, kinds in kind.fields.items():
            a.flow(kinds, made.fields.setdefault(name, set()))
        return frozenset({made})
    if result == "item":
        return held
    if result == "value":
        return _value_result(node, kind, held, arguments)
    if result == "keys":
        return a.holding(node, "view", keys)
    if result == "values":
        return a.holding(node, "view", held)
    if result in ("items", "counted"):
        pair = a.thing(node, "tuple", "pair")
        a.flow(keys, pair.fields.setdefault(0, set()))
        a.flow(held, pair.fields.setdefault(1, set()))
        return a.holding(node, "view" if result == "items" else "list", {pair})
    if result == "item_pair":
        pair = a.thing(node, "tuple", "pair")
        a.flow(keys, pair.fields.setdefault(0, set()))
        a.flow(held, pair.fields.setdefault(1, set()))
        return frozenset({pair})
    return _plain_result(a, node, result)


def _value_result(node: ast.Call, kind: Kind, held: Kinds, arguments: list[Kinds]) -> Kinds:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    default = arguments[1] if len(arguments) > 1 else (NOTHING if name == "pop" else NONE)
    key = node.args[0]
    if isinstance(kind, Thing) and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return frozenset(kind.fields.get(key.value, set()) | kind.items) | default
    return held | default


def _plain_result(a: Analysis, node: ast.AST, result: str) -> Kinds:
    if result == "pairs":
        pair = a.thing(node, "tuple", "pair")
        a.flow(ANY, pair.fields.setdefault(0, set()))
        a.flow(ANY, pair.fields.setdefault(1, set()))
        return a.holding(node, "view", {pair})
    if result == "text?":
        return frozenset({"str", "none"})
    if result == "match?":
        return frozenset({"re.Match", "none"})
    if result == "found":
        return a.holding(node, "list", ANY)
    shape, _, rest = result.partition(":")
    if rest:
        if shape == "dict":
            key, _, value = rest.partition(":")
            return a.holding(node, "dict", _plain_result(a, node, value), frozenset({key}))
        return a.holding(node, shape, _plain_result(a, node, rest))
    return frozenset({result})


# Builtins.


def _builtin(a: Analysis, node: ast.Call, name: str) -> Kinds:
    if name in lazy.LAZY:
        raise Refused(f"keeps what {name}() gives", node)
    signature = signature_of(name)
    check_arguments(node, signature, name)
    if name.startswith("itertools."):
        return iterators.itertool(a, node, name.removeprefix("itertools."))
    handler = builtins.HANDLERS.get(name)
    if handler is not None:
        return handler(a, node)
    arguments = [a.value(argument) for argument in node.args if not isinstance(argument, ast.Starred)]
    for keyword in node.keywords:
        a.value(keyword.value)
    if len(arguments) != len(node.args):
        raise Refused(f"unpacks the arguments of {name}()", node)
    module, _, function = name.rpartition(".")
    if module == "math":
        return _math(a, node, function, arguments, signature)
    if module == "re":
        return _re(a, node, function, signature)
    for kinds in arguments:
        if any(isinstance(kind, Thing) and kind.shape not in PLAIN for kind in kinds):
            raise Refused(f"passes a {[shape_of(k) for k in kinds]} to {name}()", node)
    return _plain_result(a, node, signature.result)


PLAIN = frozenset({"list", "tuple", "dict", "Counter", "defaultdict", "deque", "range", "view", "record value"})


def _math(a: Analysis, node: ast.Call, function: str, arguments: list[Kinds], signature: Signature) -> Kinds:
    a.diverges(node, "ValueError", f"math.{function}()")
    a.diverges(node, "TypeError", f"math.{function}()")
    a.diverges(node, "OverflowError", f"math.{function}()")
    if function == "prod":
        return NUMBERS
    if function in ("floor", "ceil", "trunc") and any(shape_of(kind) == "instance" for kind in arguments[0]):
        raise Refused(f"passes an object to math.{function}()", node)
    return _plain_result(a, node, signature.result)


def _re(a: Analysis, node: ast.Call, function: str, signature: Signature) -> Kinds:
    if function == "escape":
        return STR
    _check_pattern(a, node, function, node.args[0], node.args[1] if function == "sub" else None)
    for keyword in node.keywords:
        _check_flags(keyword.value if keyword.arg == "flags" else None, node)
    position = {"compile": 1, "sub": 4}.get(function, 2)
    if len(node.args) > position and function != "split":
        _check_flags(node.args[position], node)
    return _plain_result(a, node, signature.result)


def _check_flags(flags: ast.expr | None, node: ast.Call) -> None:
    if flags is None:
        return
    for inner in ast.walk(flags):
        if isinstance(inner, ast.Attribute) and inner.attr not in ("IGNORECASE", "I", "DOTALL", "S", "MULTILINE", "M"):
            raise Refused(f"uses re.{inner.attr}", node)
        if isinstance(inner, ast.Constant | ast.Call):
            raise Refused("uses flags that are not names", node)


def _check_pattern(a: Analysis, node: ast.Call, function: str, pattern: ast.expr, replacement: ast.expr | None) -> None:
    text = literal(a, pattern)
    if text is None:
        if a.value(pattern) <= {"re.Pattern"}:
            _check_compiled(a, node, function, replacement)
            return
        raise Refused("uses a regular expression that is not a literal", node)
    new = None
    if replacement is not None:
        new = literal(a, replacement)
        if new is None:
            raise Refused("replaces by something that is not a literal", node)
    if not a.facts.is_ascii and patterns.depends_on_unicode(text):
        raise Refused("uses character classes on text that is not all ASCII", node)
    trouble = patterns.problem(
        text, "findall" if function == "compile" else function, new, ends=id(pattern) in a.facts.mended_patterns
    )
    if trouble is not None:
        raise Refused(trouble, node)


def literal(a: Analysis, node: ast.expr) -> str | None:
    """The text of a literal, or of a name that its scope binds once, to a literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return a.scope.literal(node.id) if isinstance(node, ast.Name) else None


def _check_pattern_method(a: Analysis, node: ast.Call, name: str) -> None:
    _check_compiled(a, node, name, node.args[0] if name == "sub" else None)


def _check_compiled(a: Analysis, node: ast.Call, function: str, replacement: ast.expr | None) -> None:
    if replacement is None:
        return
    new = literal(a, replacement)
    if new is None or "\\" in new:
        raise Refused("replaces by something that is not a plain literal", node)


def _time_type(a: Analysis, node: ast.Call, name: str) -> Kinds:
    positional, keywords = _arguments(a, node)
    whole = {"days", "seconds", "microseconds", "minutes", "hours", "weeks", "milliseconds"}
    stamps = {"year", "month", "day", "hour", "minute", "second", "microsecond"}
    allowed = whole if name == "datetime.timedelta" else stamps
    if not keywords.keys() <= allowed:
        raise Refused(f"calls {name}() with {', '.join(keywords)}", node)
    for kinds in (*positional, *keywords.values()):
        if not kinds <= INT:
            raise Refused(f"calls {name}() with something other than whole numbers", node)
    a.diverges(node, "ValueError", f"{name}()")
    a.diverges(node, "OverflowError", f"{name}()")
    return frozenset({name})


def _is_stamp(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?", text))


STRPTIME = frozenset({"%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y", "%m/%d/%Y"})


def _type_method(a: Analysis, node: ast.Call, kind: str, name: str) -> Kinds:
    positional, keywords = _arguments(a, node)
    if keywords:
        raise Refused(f"calls {kind}.{name}() with keywords", node)
    if kind == "dict" and name == "fromkeys" and len(positional) in (1, 2):
        keys = lazy.iterate(a, positional[0], node)
        return a.holding(node, "dict", positional[1] if len(positional) > 1 else NONE, keys)
    if kind == "datetime.datetime" and name == "strptime" and len(node.args) == 2:
        template = literal(a, node.args[1])
        if template not in STRPTIME:
            raise Refused("parses a date with a template that is not known to be the same", node)
        a.diverges(node, "ValueError", "strptime()")
        return frozenset({kind})
    if kind in ("datetime.date", "datetime.datetime") and name == "fromisoformat" and len(node.args) == 1:
        text = literal(a, node.args[0])
        if text is None or not _is_stamp(text):
            raise Refused("parses a date that is not a literal", node)
        return frozenset({kind})
    raise Refused(f"uses {kind}.{name}", node)


def _record_method(a: Analysis, node: ast.Call, kind: Thing, name: str) -> Kinds:
    _, keywords = _arguments(a, node)
    if name == "_asdict" and not node.args and not keywords:
        made = a.thing(node, "dict")
        a.flow(STR, made.keys)
        for field, kinds in kind.fields.items():
            a.flow(kinds, made.fields.setdefault(field, set()))
        return frozenset({made})
    if name == "_replace" and keywords.keys() <= {str(field) for field in kind.fields} and not node.args:
        for field, kinds in keywords.items():
            a.flow(kinds, kind.fields[field])
        return frozenset({kind})
    raise Refused(f"uses the method {name} of a namedtuple", node)
