"""The script's own functions: made, bound to arguments, entered."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import depths, lazy
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope, declare
from paddock.planning.light.things import ANY, NOTHING, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def define(a: Analysis, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Thing:
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


def call(a: Analysis, node: ast.Call, function: Thing) -> Kinds:
    """A call of one of the script's own functions."""
    positional, keywords = arguments_of(a, node)
    return enter(a, function, positional, keywords, node, spread=spreads(node))


def spreads(node: ast.Call) -> bool:
    """Whether the number of arguments depends on a value."""
    doubled = [keyword for keyword in node.keywords if keyword.arg is None]
    if doubled and len(node.keywords) > 1:
        raise Refused("unpacks a dict beside other keywords", node)
    return bool(doubled) or any(isinstance(argument, ast.Starred) for argument in node.args)


def arguments_of(a: Analysis, node: ast.Call) -> tuple[list[Kinds], dict[str, Kinds]]:
    """The kinds of the arguments of a call: by position, and by name."""
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
            for kind in in_order(kinds):
                if not (kind == "any" or shape_of(kind) == "dict"):
                    raise Refused("unpacks something other than a dict into a call", node)
                if isinstance(kind, Thing):
                    positional.append(frozenset(kind.held()))
    return positional, keywords


def enter(
    a: Analysis,
    function: Thing,
    positional: list[Kinds],
    keywords: dict[str, Kinds],
    node: ast.AST,
    *,
    spread: bool = False,
    way: str = "call",
) -> Kinds:
    """Bind the arguments of a call to the parameters, note that the function is reached, give what it returns."""
    scope, definition = function.scope, function.node
    if scope is None or not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        raise Refused("calls something that is not a function", node)
    if not spread:
        _check_arity(definition, len(positional), keywords, node)
    _bind(a, scope, definition.args, positional, keywords, spread=spread)
    for name, default in function.fields.items():
        a.flow(default, scope.names[str(name)])
    if not a.catches <= scope.catches:
        scope.catches |= a.catches
        a.changed = True
    depths.note_call(a, definition, way)
    if id(definition) not in a.reached:
        _check_recursion(definition)
    a.reached.setdefault(id(definition), function)
    if isinstance(definition, ast.AsyncFunctionDef):
        return a.holding(definition, "coroutine", scope.returned, tag="call")
    return frozenset(scope.returned)


def _bind(
    a: Analysis,
    scope: Scope,
    parameters: ast.arguments,
    positional: list[Kinds],
    keywords: dict[str, Kinds],
    *,
    spread: bool,
) -> None:
    """Let parameters have the kinds of their arguments; where arguments are spread, each may have any of them."""
    names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    known = {*names, *(parameter.arg for parameter in parameters.kwonlyargs)}
    everything = frozenset().union(ANY, *positional, *keywords.values()) if spread else NOTHING
    if spread:
        for name in known:
            a.flow(everything, scope.names[name])
    for name, kinds in zip(names, positional, strict=False):
        a.flow(kinds, scope.names[name])
    for name, kinds in keywords.items():
        if name in known:
            a.flow(kinds, scope.names[name])
    if parameters.vararg is not None:
        rest = everything.union(*positional[len(names) :])
        a.flow(a.holding(parameters.vararg, "tuple", rest), scope.names[parameters.vararg.arg])
    if parameters.kwarg is not None:
        values = everything.union(*(kinds for name, kinds in keywords.items() if name not in known))
        a.flow(a.holding(parameters.kwarg, "dict", values, STR), scope.names[parameters.kwarg.arg])


def _check_arity(
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


def bind_partial(a: Analysis, node: ast.Call) -> Kinds:
    """What `functools.partial(…)` gives."""
    made = a.thing(node, "partial")
    a.flow(a.value(node.args[0]), made.items)
    for place, argument in enumerate(node.args[1:]):
        a.flow(a.value(argument), made.fields.setdefault(place, set()))
    for keyword in node.keywords:
        a.flow(a.value(keyword.value), made.fields.setdefault(keyword.arg, set()))
    return frozenset({made})


def call_partial(a: Analysis, node: ast.Call, partial: Thing) -> Kinds:
    """A call of what `functools.partial` gave."""
    positional, keywords = arguments_of(a, node)
    if spreads(node):
        raise Refused("unpacks the arguments of a partial function", node)
    return enter_partial(a, partial, positional, keywords, node)


def enter_partial(
    a: Analysis, partial: Thing, positional: list[Kinds], keywords: dict[str, Kinds], node: ast.AST
) -> Kinds:
    """Call what `functools.partial` bound, with its arguments before these."""
    bound = [frozenset(partial.fields[place]) for place in sorted(k for k in partial.fields if isinstance(k, int))]
    named = {name: frozenset(kinds) for name, kinds in partial.fields.items() if isinstance(name, str)}
    result: set[Kind] = set()
    for kind in in_order(partial.items):
        if not isinstance(kind, Thing) or kind.shape != "function":
            raise Refused("binds arguments of something other than a function", node)
        result |= enter(a, kind, [*bound, *positional], {**named, **keywords}, node)
    return frozenset(result)


def _check_recursion(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
    """A function that calls itself whatever happens ends in a RecursionError, at another depth and in other words."""
    if isinstance(definition, ast.Lambda):
        return
    inside = list(ast.walk(definition))
    branches = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.comprehension, ast.Match)
    itself = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == definition.name
        for node in inside
    )
    if itself and not any(isinstance(node, branches) for node in inside):
        raise Refused(f"has a recursion without end, in {definition.name}", definition)
