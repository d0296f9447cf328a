"""Where a name lives: which function, class or module binds it. Python's own rules, from the syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddock.planning.light.things import Kind, Thing

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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

    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> set[Kind] | None:
        """The kinds of `name` as seen from here, or None where nothing binds it."""
        if self.elsewhere.get(name) == "global":
            return self.module().names.get(name)
        if name in self.names:
            return self.names[name]
        scope = self.parent
        while scope is not None:
            # A class body is not a scope for the functions inside it.
            if scope.kind != "class" and name in scope.names and scope.elsewhere.get(name) is None:
                return scope.names[name]
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
        if isinstance(node, ast.Global | ast.Nonlocal):
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            scope.elsewhere.update(dict.fromkeys(node.names, word))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.names.setdefault(node.name, set())
            stack.extend(node.decorator_list)
            continue
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.names.setdefault(node.id, set())
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.names.setdefault(node.name, set())
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                scope.names.setdefault((alias.asname or alias.name).split(".")[0], set())
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            scope.names.setdefault(node.name, set())
        elif isinstance(node, ast.MatchMapping) and node.rest:
            scope.names.setdefault(node.rest, set())
        stack.extend(ast.iter_child_nodes(node))
    for name in scope.elsewhere:
        scope.names.pop(name, None)
