"""Exceptions: raising and catching them, and what a script can see of one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import PARENTS
from paddock.planning.light.things import STR, Kinds, Thing, in_order

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

BROAD = frozenset({"Exception", "BaseException"})

REVEALING = frozenset({"BaseException", "Exception", "AttributeError", "TypeError", "NameError", "RuntimeError"})
"""Catching one of these can hide that a feature is missing."""


def catches(caught: str, exception: str) -> bool:
    """Whether `except caught` catches `exception`."""
    name: str | None = exception
    while name is not None:
        if name == caught:
            return True
        name = PARENTS.get(name)
    return False


def raise_statement(a: Analysis, node: ast.Raise) -> None:
    """`raise`, where the line that is reported for it is the same."""
    if node.exc is None:
        # Where it ends the run, the line that is reported is this one and not that of its origin.
        if not any(caught in BROAD for caught, _ in a.catches):
            raise Refused("raises an exception again", node)
        return
    for kind in in_order(a.value(node.exc)):
        if not isinstance(kind, Thing) or kind.shape not in ("exception class", "exception"):
            raise Refused("raises something that is not an exception", node)
        if kind.shape == "exception" and kind.node is None:
            raise Refused("raises an exception that it caught", node)
        if kind.name == "StopIteration" and a.facts.awaits:
            raise Refused("raises StopIteration in a script that awaits", node)
        if a.catches and not any(catches(caught, kind.name) for caught, _ in a.catches):
            # On its way out it passes a handler, and then that is where Monty says it came from.
            raise Refused("raises an exception past a handler", node)
    if node.cause is not None:
        a.value(node.cause)


def try_statement(a: Analysis, node: ast.Try) -> None:
    """`try`: what its body does is seen through its handlers."""
    outer = a.catches
    if node.finalbody and not node.handlers and not any(caught in BROAD for caught, _ in outer):
        # An exception on its way out passes `finally`, and then that is where Monty says it came from.
        raise Refused("uses `finally` without `except`", node)
    inner = set(outer)
    for handler in node.handlers:
        looked_at = handler.name is not None and (_looks_at(handler) or _is_seen_elsewhere(a, handler))
        inner |= {(name, looked_at) for name in _caught(a, handler)}
    a.catches = frozenset(inner)
    a.block(node.body)
    a.catches = outer
    for handler in node.handlers:
        if handler.name:
            a.flow({a.named("exception", "caught")}, a.scope.cell(handler.name))
        a.block(handler.body)
    a.block(node.orelse)
    a.block(node.finalbody)


def _caught(a: Analysis, handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return ["BaseException"]
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names: list[str] = []
    for node in nodes:
        for kind in in_order(a.value(node)):
            if not isinstance(kind, Thing) or kind.shape != "exception class":
                raise Refused("catches something that is not an exception class", node)
            names.append(kind.name)
    if "RecursionError" in names:
        raise Refused("catches RecursionError, whose depth differs", handler)
    return names


def _looks_at(handler: ast.ExceptHandler) -> bool:
    """Whether the handler can see the text of its exception: any use but `type(e)`, `isinstance` or a cause."""
    harmless: set[int] = set()
    for node in ast.walk(ast.Module(handler.body, [])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("type", "isinstance"):
            harmless.update(id(argument) for argument in node.args)
        elif isinstance(node, ast.Raise) and node.cause is not None:
            harmless.add(id(node.cause))
    return any(
        isinstance(node, ast.Name) and node.id == handler.name and id(node) not in harmless
        for statement in handler.body
        for node in ast.walk(statement)
    )


def _is_seen_elsewhere(a: Analysis, handler: ast.ExceptHandler) -> bool:
    """Whether the name of the exception is read outside its handler: by a function that the handler calls."""
    handlers = [node for node in a.facts.nodes if isinstance(node, ast.ExceptHandler) and node.name == handler.name]
    inside = [node for one in handlers for part in one.body for node in ast.walk(part)]
    return _count(handler.name, a.facts.nodes) > _count(handler.name, inside)


def _count(name: str | None, nodes: list[ast.AST]) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in nodes)


def make(a: Analysis, node: ast.Call, kind: Thing) -> Kinds:
    """An exception, of a class and at most one text."""
    if node.keywords or len(node.args) > 1:
        raise Refused("makes an exception with several arguments", node)
    if node.args and not a.value(node.args[0]) <= STR:
        raise Refused("makes an exception from something that is not text", node)
    made = a.thing(node, "exception")
    made.name = kind.name
    return frozenset({made})
