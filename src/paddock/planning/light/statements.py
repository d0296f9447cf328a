"""Statements, over kinds of value."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddock.planning.light import attributes, calls, exceptions, functions, hints, lazy, loops, matching, operators
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope, declare
from paddock.planning.light.tables import MODULES
from paddock.planning.light.things import Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def _expr(a: Analysis, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and node.value.value is ... and node is not a.tree.body[-1]:
        return
    kinds = a.value(node.value)
    if any(shape_of(kind) == "coroutine" for kind in kinds):
        raise Refused("calls a coroutine without awaiting it", node)
    if a.scope is a.module and node is a.tree.body[-1]:
        a.check_shown(kinds, node, leaves=True)


def _assign(a: Analysis, node: ast.Assign) -> None:
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        targets, values = node.targets[0].elts, node.value.elts
        plain = not any(isinstance(e, ast.Starred) for e in (*targets, *values))
        if plain and len(targets) == len(values):
            for target, kinds in zip(targets, [a.value(value) for value in values], strict=True):
                a.bind(target, kinds)
            return
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple | ast.List) and lazy.is_lazy(a, node.value):
        whole = bool(a.facts.bounded & {id(inner) for inner in ast.walk(node.value)})
        a.unpack(node.targets[0], a.holding(node.value, "list", lazy.consume(a, node.value, whole=whole)))
        return
    kinds = a.value(node.value)
    for target in node.targets:
        itself = isinstance(target, ast.Subscript) and isinstance(node.value, ast.Name)
        if itself and getattr(target.value, "id", None) == node.value.id:  # type: ignore[attr-defined]
            raise Refused("puts a value into itself", node)
        a.bind(target, kinds)


def _ann_assign(a: Analysis, node: ast.AnnAssign) -> None:
    if a.scope.kind != "function":
        hints.check(a, node.annotation)
    elif node.value is None:
        raise Refused("declares a variable without a value", node)
    if node.value is not None:
        a.bind(node.target, a.value(node.value))


def _aug_assign(a: Analysis, node: ast.AugAssign) -> None:
    target = node.target
    read: ast.expr
    if isinstance(target, ast.Name):
        if target.id in a.facts.only_augmented or a.scope.is_only_augmented(target.id):
            raise Refused(f"changes {target.id} before it has a value", node)
        read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    elif isinstance(target, ast.Attribute):
        read = ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    else:
        read = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    left, right = a.value(read), a.value(node.value)
    operators.check_augmented(a, node, left, right)
    a.bind(target, operators.binary(a, node, left, node.op, right, node.value))


def _for(a: Analysis, node: ast.For) -> None:
    loops.check(a, node)
    loops.check_dict(a, node)
    a.bind(node.target, lazy.consume(a, node.iter, whole=False))
    a.loops.append(_bound_in(node))
    a.block(node.body)
    a.loops.pop()
    a.block(node.orelse)


def _while(a: Analysis, node: ast.While) -> None:
    a.value(node.test)
    a.loops.append(_bound_in(node))
    a.block(node.body)
    a.loops.pop()
    a.block(node.orelse)


def _bound_in(loop: ast.For | ast.While) -> set[str]:
    return {
        inner.id
        for statement in loop.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }


def _if(a: Analysis, node: ast.If) -> None:
    a.value(node.test)
    a.block(node.body)
    a.block(node.orelse)


def _return(a: Analysis, node: ast.Return) -> None:
    kinds = frozenset({"none"}) if node.value is None else a.value(node.value)
    if a.scope.kind == "function":
        a.flow(kinds, a.scope.returned)
    else:
        a.check_shown(kinds, node, leaves=True)


def _assert(a: Analysis, node: ast.Assert) -> None:
    a.value(node.test)
    if node.msg is not None and not a.value(node.msg) <= {"str"}:
        raise Refused("has an assertion message that is not text", node)


def _import(a: Analysis, node: ast.Import) -> None:
    for alias in node.names:
        if alias.name not in MODULES:
            raise Refused(f"imports {alias.name}", node)
        a.flow({a.named("module", alias.name)}, a.scope.cell(alias.asname or alias.name))


def _import_from(a: Analysis, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if module not in MODULES:
        raise Refused(f"imports {module}", node)
    for alias in node.names:
        kinds = attributes.of_module(a, module, alias.name, node)
        a.flow(kinds, a.scope.cell(alias.asname or alias.name))


def _function(a: Analysis, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        hints.check(a, argument.annotation if argument is not None else None)
    hints.check(a, node.returns)
    kinds: Kinds = frozenset({functions.define(a, node)})
    for decorator in reversed(node.decorator_list):
        if _is_memo(a, decorator):
            continue
        kinds = calls.call_kinds(a, a.value(decorator), [kinds], decorator)
    a.flow(kinds, a.scope.cell(node.name))


def _is_memo(a: Analysis, decorator: ast.expr) -> bool:
    """`@cache`, `@lru_cache` or `@lru_cache(maxsize=…)`: the function stays what it is."""
    function = decorator
    if isinstance(decorator, ast.Call):
        function = decorator.func
        sized = [*decorator.args, *(k.value for k in decorator.keywords if k.arg == "maxsize")]
        if len(decorator.args) + len(decorator.keywords) != len(sized) or len(sized) > 1:
            return False
        if not all(isinstance(argument, ast.Constant) for argument in sized):
            return False
    if any(isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value > 300 for n in a.facts.nodes):
        return False  # a memoised recursion of that depth fails in CPython
    return all(shape_of(kind) == "memo" for kind in a.value(function)) and bool(a.value(function))


def _class(a: Analysis, node: ast.ClassDef) -> None:
    made = a.thing(node, "class")
    if made.scope is None:
        made.scope = Scope("class", a.scope)
        declare(made.scope, node.body)
    for decorator in node.decorator_list:
        kinds = a.value(decorator)
        if not all(isinstance(kind, Thing) and kind.name == "dataclass" for kind in kinds):
            raise Refused("uses a class decorator", decorator)
        made.name = "dataclass"
        fields = [s for s in node.body if isinstance(s, ast.AnnAssign)]
        if any(one.value is not None and two.value is None for one, two in itertools.pairwise(fields)):
            raise Refused("has a dataclass field without a default after one with", node)
    before, a.scope = a.scope, made.scope
    a.block(node.body)
    a.scope = before
    a.flow({made}, a.scope.cell(node.name))


def _with(a: Analysis, node: ast.With) -> None:
    for item in node.items:
        entered: set[Kind] = set()
        for kind in in_order(a.value(item.context_expr)):
            if kind in ("text file", "binary file"):
                entered.add(kind)
            else:
                raise Refused(f"uses `with` on a {shape_of(kind)}", node)
        if item.optional_vars is not None:
            a.bind(item.optional_vars, frozenset(entered))
    a.block(node.body)


def _match(a: Analysis, node: ast.Match) -> None:
    subject = a.value(node.subject)
    for case in node.cases:
        matching.bind_pattern(a, case.pattern, subject)
        if case.guard is not None:
            a.value(case.guard)
        a.block(case.body)


def _nothing(a: Analysis, node: ast.stmt) -> None:
    pass


STATEMENTS: dict[type[ast.AST], Callable[[Analysis, Any], None]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.For: _for,
    ast.While: _while,
    ast.If: _if,
    ast.Return: _return,
    ast.Raise: exceptions.raise_statement,
    ast.Try: exceptions.try_statement,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.With: _with,
    ast.Match: _match,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Pass: _nothing,
    ast.Break: _nothing,
    ast.Continue: _nothing,
}
