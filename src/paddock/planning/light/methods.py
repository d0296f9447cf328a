"""Methods of the builtin kinds, and of values whose kind is not known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import (
    attributes,
    calls,
    comparisons,
    containers,
    conversions,
    dates,
    formats,
    keys,
    lazy,
    objects,
    records,
    results,
    searches,
    signatures,
    subscripts,
)
from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import METHODS, UNKNOWN_RECEIVER
from paddock.planning.light.things import (
    ANY,
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
    in_order,
    shape_of,
)

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def call(a: Analysis, node: ast.Call, target: ast.Attribute) -> Kinds:
    """`value.name(…)`, whatever the value is."""
    if isinstance(target.value, ast.Constant) and isinstance(target.value.value, str) and target.attr == "format":
        return formats.format_call(a, node, target.value.value)
    receivers = a.value(target.value)
    plain = all(isinstance(argument, ast.Constant) for argument in node.args) and not node.keywords
    if not plain and receivers and all(attributes.lacks(kind, target.attr) for kind in receivers):
        # CPython asks for the method first, Monty evaluates the arguments first.
        raise Refused(f"calls {target.attr}, which is not there", node)
    result: set[Kind] = set()
    for kind in in_order(receivers):
        result |= _method_call(a, node, kind, target.attr)
    return frozenset(result)


def _method_call(a: Analysis, node: ast.Call, kind: Kind, name: str) -> Kinds:
    if isinstance(kind, Thing):
        if kind.shape == "module":
            result: set[Kind] = set()
            for found in attributes.of_module(a, kind.name, name, node):
                result |= calls.call_one(a, node, found)
            return frozenset(result)
        if kind.shape == "instance":
            return objects.call_method(a, node, kind, name)
        if kind.shape == "type":
            return dates.call_type_method(a, node, kind.name, name)
        if kind.shape == "builtin" and kind.name == "dict":
            return conversions.dict_method(a, node, name)
        if kind.shape == "record value":
            return records.call_method(a, node, kind, name)
    shape = shape_of(kind)
    if shape == "any":
        return _unknown_method(a, node, name)
    if attributes.lacks(kind, name):
        for argument in node.args:
            if not isinstance(argument, ast.Starred) and not lazy.is_lazy(a, argument):
                a.value(argument)
        return NOTHING
    entry = METHODS.get(shape, {}).get(name)
    if entry is None:
        raise Refused(f"uses the method {name} of a {shape}", node)
    signature = signatures.parse(entry)
    signatures.check(node, signature, name)
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
                subscripts.check_stored(a, kinds, node)
    for keyword in node.keywords:
        if keyword.arg == "key":
            calls.call_kinds(a, a.value(keyword.value), [ANY], node)
        elif keyword.arg not in ("reverse", "sep", "maxsplit"):
            raise Refused(f"calls {name}() with {keyword.arg}", node)
    given = results.plain(a, node, result)
    if name in ("get", "setdefault", "pop") and len(node.args) > 1:
        given |= a.value(node.args[1])
    return given


def _method_result(a: Analysis, node: ast.Call, kind: Kind, name: str, signature: signatures.Signature) -> Kinds:
    shape = shape_of(kind)
    arguments = _method_arguments(a, node, kind, name)
    if isinstance(kind, Thing):
        _mutate(a, node, kind, name, arguments)
        _check_failures(a, node, kind, name, arguments)
    if shape == "str":
        _check_text_method(a, node, name, arguments)
    if shape == "re.Match" and name in ("start", "end", "span") and not all(kinds <= INT for kinds in arguments):
        raise Refused(f"asks {name}() for a group by name", node)
    if shape == "re.Pattern":
        searches.check_compiled(a, node, node.args[0] if name == "sub" else None)
    if name == "strftime":
        dates.check_strftime(node)
    if name == "decode":
        if any(not isinstance(argument, ast.Constant) or argument.value != "utf-8" for argument in node.args):
            raise Refused("decodes bytes in another encoding", node)
        a.diverges(node, "UnicodeDecodeError", "decode()")
    return results.of_method(a, node, kind, signature.result, arguments)


def _check_failures(a: Analysis, node: ast.Call, kind: Thing, name: str, arguments: list[Kinds]) -> None:
    """Refuse where a method of a container may fail with a text of its own, and the script looks at it."""
    shape = kind.shape
    looked_up = (name == "pop" and shape in ("dict", "defaultdict", "Counter") and len(arguments) == 1) or (
        name == "remove" and shape == "set"
    )
    if looked_up:
        a.keys_read.setdefault(node.lineno, set()).update(arguments[0])
        if not arguments[0] <= STR:
            a.diverges(node, "KeyError", f"{name}()")
    if name in ("discard", "remove") and shape == "set" and any(shape_of(kind) == "set" for kind in arguments[0]):
        raise Refused("takes a set out of a set", node)
    if name in ("index", "remove", "count") and objects.compares_itself(a, frozenset({kind}).union(*arguments)):
        raise Refused(f"compares objects of its own in {name}()", node)
    if name == "index" or (name == "remove" and shape == "deque"):
        a.diverges(node, "ValueError", f"{name}()")
    if name in ("popleft", "pop") and shape == "deque":
        a.diverges(node, "IndexError", f"{name}()")
    if name == "popitem":
        a.diverges(node, "KeyError", "popitem()")


CONSUMING = frozenset({
    "join", "extend", "extendleft", "update", "union", "intersection", "difference", "symmetric_difference",
})  # fmt: skip


def _method_arguments(a: Analysis, node: ast.Call, kind: Kind, name: str) -> list[Kinds]:
    if name in CONSUMING:
        ordered = shape_of(kind) not in ORDERLESS
        if name == "update" and shape_of(kind) in ("dict", "defaultdict", "Counter"):
            return [a.value(argument) for argument in node.args]
        # Where it may fail half-way, or reads what it changes, what is already there can be seen.
        whole = name not in lazy.MUTATORS or not _can_be_seen_halfway(a, node)
        return [lazy.consume(a, argument, ordered=ordered, whole=whole) for argument in node.args]
    arguments = [a.value(argument) for argument in node.args]
    for keyword in node.keywords:
        kinds = a.value(keyword.value)
        if keyword.arg == "reverse" and not kinds <= WHOLE:
            raise Refused("sorts in reverse by something that is not a truth value", node)
        if keyword.arg == "key" and isinstance(kind, Thing):
            comparisons.check_ordering(a, node, calls.call_kinds(a, kinds, [frozenset(kind.held())], node))
    if name == "sort" and isinstance(kind, Thing) and not (kind.held() <= NUMBERS or kind.held() <= STR):
        a.differs(node, "TypeError", "sort()")  # it leaves the list as far as it got
    if name == "sort" and isinstance(kind, Thing) and not node.keywords:
        comparisons.check_ordering(a, node, frozenset(kind.held()))
    return arguments


def _can_be_seen_halfway(a: Analysis, node: ast.Call) -> bool:
    receiver = ast.dump(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    read = {ast.dump(inner) for argument in node.args for inner in ast.walk(argument)}
    if receiver in read and any(lazy.is_lazy(a, argument) for argument in node.args):
        raise Refused("adds to a value what is made from it bit by bit", node)
    return bool(a.catches)


def _mutate(a: Analysis, node: ast.Call, kind: Thing, name: str, arguments: list[Kinds]) -> None:
    """Let `kind` hold what the method puts into it."""
    if name in lazy.MUTATORS:
        a.note_change(kind, node, removes=name in ("pop", "popitem", "clear"))
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
        a.check_keys(kind, node, NOTHING, tuple(node.args[:1]))
    elif name == "update":
        _update(a, node, kind, arguments)


def _update(a: Analysis, node: ast.Call, kind: Thing, arguments: list[Kinds]) -> None:
    merges = all(shape_of(other) in ("dict", "defaultdict") for kinds in arguments for other in kinds)
    for keyword in node.keywords:
        a.flow(STR, kind.keys)
        a.flow(a.value(keyword.value), kind.fields.setdefault(keyword.arg, set()))
    for kinds in arguments:
        for other in in_order(kinds):
            if other == "any":
                a.flow(ANY, kind.items)
                a.flow(ANY, kind.keys)
            elif isinstance(other, Thing) and other.shape in ("dict", "defaultdict") and kind.shape != "Counter":
                containers.merge_dict(a, kind, other)
            elif kind.shape == "Counter" and isinstance(other, Thing) and other.shape == "dict":
                if not other.held() <= NUMBERS:
                    raise Refused("counts in something other than numbers", node)
                a.flow(other.keys, kind.keys)
                keys.inherit(a, kind, other)
            elif kind.shape == "Counter":
                a.flow(lazy.iterate(a, frozenset({other}), node), kind.keys)
            else:
                raise Refused("updates a dict with something other than a dict", node)
    a.check_keys(kind, node, None, () if merges else (None,))


def _check_elements(a: Analysis, kind: Thing, node: ast.AST) -> None:
    if any(shape_of(item) == "set" for item in kind.items):
        raise Refused("puts a set into a set", node)
    containers.check_hashable(a, frozenset(kind.items), node)


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
    bounded = name in ("find", "rfind", "index", "rindex", "count", "startswith", "endswith") and len(arguments) > 1
    if bounded and not (isinstance(node.args[0], ast.Constant) and node.args[0].value):
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
