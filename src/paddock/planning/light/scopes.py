"""Where a name lives: which function, class or module binds it. Python's own rules, from the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paddock.planning.light.things import Kind, Thing


@dataclass(eq=False, slots=True)
class Scope:
    """The names that one function, class or module binds, with the kinds that each can have."""

    kind: str  # module, function, class
    parent: Scope | None = None
    names: dict[str, set[Kind]] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> "global" or "nonlocal"
    thing: Thing | None = None  # the function that this is the inside of
    returned: set[Kind] = field(default_factory=set)
    catches: set[tuple[str, bool]] = field(default_factory=set)  # what callers catch, and whether they look at it
    plain: set[str] = field(default_factory=set)  # names that something other than `+=` binds
    literals: dict[str, str | None] = field(default_factory=dict)  # names bound once, to a text; None: otherwise

    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> set[Kind] | None:
        """The kinds of `name` as seen from here, or None where nothing binds it."""
        if self.elsewhere.get(name) == "global":
            return self.module().names.get(name)
        if name in self.names and (self.kind != "class" or self.names[name]):
            return self.names[name]
        scope = self.parent
        while scope is not None:
            # A class body is not a scope for the functions inside it.
            if scope.kind != "class" and name in scope.names and scope.elsewhere.get(name) is None:
                return scope.names[name]
            scope = scope.parent
        return None

    def is_only_augmented(self, name: str) -> bool:
        """Whether a function only ever says `name += …`, so that the first time fails."""
        return self.kind == "function" and name in self.names and name not in self.plain

    def literal(self, name: str) -> str | None:
        """The text that `name` always has, where that can be told."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and scope.kind != "class":
                return None if name in scope.elsewhere else scope.literals.get(name)
            scope = scope.parent
        return None

    def cell(self, name: str) -> set[Kind]:
        """The kinds of `name`, to bind it here."""
        where = self.elsewhere.get(name)
        if where == "global":
            return self.module().names.setdefault(name, set())
        if where == "nonlocal":
            found = self.parent.find(name) if self.parent else None
            if found is not None:
                return found
        return self.names.setdefault(name, set())


def declare(scope: Scope, body: list[ast.stmt]) -> None:
    """Enter every name that `body` binds, so that a use before the binding finds its owner."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        handler = _DECLARE.get(type(node))
        if handler is not None:
            stack.extend(handler(scope, node))
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST):
                stack.append(value)
    for name in scope.elsewhere:
        scope.names.pop(name, None)


def _enter(scope: Scope, name: str) -> None:
    scope.names.setdefault(name, set())
    scope.plain.add(name)
    scope.literals[name] = None


def _name(scope: Scope, node: ast.Name) -> list[ast.AST]:
    if isinstance(node.ctx, ast.Store):
        _enter(scope, node.id)
    return []


def _assign(scope: Scope, node: ast.Assign) -> list[ast.AST]:
    if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name):
        return [*node.targets, node.value]
    name, value = node.targets[0].id, node.value
    text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
    scope.literals[name] = None if name in scope.literals else text
    scope.names.setdefault(name, set())
    scope.plain.add(name)
    return [value]


def _augmented(scope: Scope, node: ast.AugAssign) -> list[ast.AST]:
    if not isinstance(node.target, ast.Name):
        return [node.target, node.value]
    scope.names.setdefault(node.target.id, set())
    scope.literals[node.target.id] = None
    return [node.value]


def _elsewhere(scope: Scope, node: ast.Global | ast.Nonlocal) -> list[ast.AST]:
    word = "global" if isinstance(node, ast.Global) else "nonlocal"
    scope.elsewhere.update(dict.fromkeys(node.names, word))
    return []


def _definition(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.AST]:
    _enter(scope, node.name)
    return list(node.decorator_list)


def _import(scope: Scope, node: ast.Import | ast.ImportFrom) -> list[ast.AST]:
    for alias in node.names:
        _enter(scope, (alias.asname or alias.name).split(".")[0])
    return []


def _handler(scope: Scope, node: ast.ExceptHandler) -> list[ast.AST]:
    if node.name:
        _enter(scope, node.name)
    return [*([node.type] if node.type is not None else []), *node.body]


def _comprehension(scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> list[ast.AST]:
    """The variables of a comprehension are its own; only `:=` inside binds here."""
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return [*results, *(part for loop in node.generators for part in (loop.iter, *loop.ifs))]


def _pattern(scope: Scope, node: ast.MatchAs | ast.MatchStar) -> list[ast.AST]:
    if node.name:
        _enter(scope, node.name)
    return [node.pattern] if isinstance(node, ast.MatchAs) and node.pattern is not None else []


def _mapping(scope: Scope, node: ast.MatchMapping) -> list[ast.AST]:
    if node.rest:
        _enter(scope, node.rest)
    return [*node.keys, *node.patterns]


def _nothing(scope: Scope, node: ast.AST) -> list[ast.AST]:
    return []


_DECLARE: dict[type[ast.AST], Callable[[Scope, Any], list[ast.AST]]] = {
    ast.Name: _name,
    ast.Constant: _nothing,
    ast.Lambda: _nothing,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Global: _elsewhere,
    ast.Nonlocal: _elsewhere,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _handler,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.MatchAs: _pattern,
    ast.MatchStar: _pattern,
    ast.MatchMapping: _mapping,
}
