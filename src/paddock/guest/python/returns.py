"""Rewrites a script so that it stores its value: the value of a top-level `return` or of the last expression.

The result is valid at module level, where `return` is not. A `return` becomes an assignment and a `break` out of one
loop around the whole script. Like a return, and unlike an exception, that runs `finally` blocks, leaves `with` blocks
without an error and cannot be caught. The script's variables stay module globals. A `return` inside a loop leaves that
loop first; a flag tells the outer code to leave too.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, TypeVar

from paddock.guest.python.outline import statement_lists

Node = TypeVar("Node", bound=ast.AST)
NAME = "<result>"
"""The builtin under which the rewritten script finds its `ResultSlot`. No script can write this name."""
VALUE, CALL = "return", "return()"
"""What `last_assigned` returns for a value that a block ends with. No variable has this name."""


class ResultSlot:
    """Holds the script's value."""

    __slots__ = ("_saved", "assigned", "done", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.assigned = ""  # what a script without a value may have meant to end with
        self.done = False  # whether a `return` left the loop that has just ended
        self._saved: dict[int, tuple[Any, bool]] = {}

    def save(self, line: int) -> None:
        """Called at the start of the `finally` at `line`, which a return may be passing through."""
        self._saved[line] = self.value, self.done

    def restore(self, line: int) -> None:
        """Called at the end of that `finally`: the interrupted return continues with the value it had."""
        self.value, self.done = self._saved[line]


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop of the script; `returns` is whether a `return` may leave it."""

    returns: bool


def last_assigned(body: list[ast.stmt], *, is_block: bool = False) -> str:
    """The variable that a script assigns last, or a call of the function that it defines last; empty if neither.

    For a value at the end of a block, where it is lost: VALUE, or CALL, which may be there for its effect.
    """
    if not body or _has_return(body):
        return ""
    last = body[-1]
    if is_block and isinstance(last, ast.Expr):
        return CALL if isinstance(last.value, ast.Call | ast.Await | ast.Constant) else VALUE
    if isinstance(last, ast.Assign | ast.AnnAssign | ast.AugAssign):
        target: ast.expr = last.targets[0] if isinstance(last, ast.Assign) else last.target
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        return target.id if isinstance(target, ast.Name) else ""
    blocks = [
        block
        for name in ("finalbody", "orelse", "body")
        if isinstance(block := getattr(last, name, None), list) and block
    ]
    if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef):
        takes = "..." if last.args.args or last.args.posonlyargs else ""
        return f"{'await ' if isinstance(last, ast.AsyncFunctionDef) else ''}{last.name}({takes})"
    if isinstance(last, ast.ClassDef):
        return ""
    blocks += [each.body for each in (*getattr(last, "cases", ()), *getattr(last, "handlers", ()))]
    found = [name for block in blocks if (name := last_assigned(block, is_block=True))]
    return next((name for name in found if name != CALL), found[0] if found else "")


def store_result(tree: ast.Module, *, may_return: bool) -> None:
    """Rewrite `tree` to store its value in a `ResultSlot`.

    Raises SyntaxError for a `break` or `continue` outside a loop.
    """
    body = tree.body
    if body and isinstance(last := body[-1], ast.Expr):
        body[-1] = _assign("value", last.value, last)
    if not may_return or not _has_return(body):
        return
    start = _first_movable(body)
    end = body[-1]
    inside = _rewrite_block(body[start:], None)
    if not _stores_value(end):
        # A `return` whose `finally` raised has stored a value, which no longer counts.
        inside.append(_assign("value", ast.Constant(None), end))
    inside.append(_at(ast.Break(), end))
    loop = _at(ast.While(_at(ast.Constant(True), body[start]), inside, []), body[start])
    tree.body = [*body[:start], loop]


def _first_movable(body: list[ast.stmt]) -> int:
    """Index of the first statement after the docstring and the `__future__` imports, which must stay first."""
    for index, node in enumerate(body):
        is_text = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            return index
    return len(body)


def _rewrite_block(body: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
    return [new for node in body for new in _rewrite_statement(node, loop)]


def _rewrite_statement(node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
    if isinstance(node, ast.Return):
        value = node.value or _at(ast.Constant(None), node)
        set_flag = [_assign_done(node, done=True)] if loop else []
        return [_assign("value", value, node), *set_flag, _at(ast.Break(), node)]
    if isinstance(node, ast.Break | ast.Continue):
        return _rewrite_jump(node, loop)
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return _rewrite_loop(node, loop)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(inner := getattr(owner, name, None), list):
                    setattr(
                        owner,
                        name,
                        _rewrite_finally(inner, loop) if name == "finalbody" else _rewrite_block(inner, loop),
                    )
    return [node]


def _rewrite_finally(body: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
    if not _has_return(body):
        return _rewrite_block(body, loop)
    first, last = body[0], body[-1]
    return [_call("save", first, first), *_rewrite_block(body, loop), _call("restore", first, last)]


def _rewrite_jump(node: ast.Break | ast.Continue, loop: _Loop | None) -> list[ast.stmt]:
    if loop is None:
        message = "'break' outside loop" if isinstance(node, ast.Break) else "'continue' not properly in loop"
        end = (node.end_lineno, (node.end_col_offset or 0) + 1)
        raise SyntaxError(message, ("main.py", node.lineno, node.col_offset + 1, None, *end))
    # A `break` in a `finally` cancels a return that is passing through.
    return [_assign_done(node, done=False), node] if loop.returns and isinstance(node, ast.Break) else [node]


def _rewrite_loop(node: ast.For | ast.AsyncFor | ast.While, outer: _Loop | None) -> list[ast.stmt]:
    loop = _Loop(_has_return(node.body))
    node.body = _rewrite_block(node.body, loop)
    node.orelse = _rewrite_block(node.orelse, outer)
    if not loop.returns:
        return [node]
    node.orelse.insert(0, _assign_done(node, done=False))
    done = _at(ast.Attribute(_at(ast.Name(NAME, ast.Load()), node), "done", ast.Load()), node)
    return [node, _at(ast.If(done, [_at(ast.Break(), node)], []), node)]


def _has_return(body: list[ast.stmt]) -> bool:
    """Whether `body` has a `return` at its top level or inside `if`, `for`, `with`, `try` and `match`."""
    return any(isinstance(node, ast.Return) for block in statement_lists(body) for node in block)


def _stores_value(node: ast.stmt) -> bool:
    """Whether `node` is the last expression, which was rewritten to an assignment."""
    if not isinstance(node, ast.Assign) or not isinstance(target := node.targets[0], ast.Attribute):
        return False
    return isinstance(target.value, ast.Name) and target.value.id == NAME


def _assign(attribute: str, value: ast.expr, origin: ast.stmt) -> ast.stmt:
    target = ast.Attribute(_at(ast.Name(NAME, ast.Load()), origin), attribute, ast.Store())
    if not hasattr(value, "lineno"):
        _at(value, origin)
    return _at(ast.Assign([_at(target, origin)], value), origin)


def _call(method: str, start: ast.stmt, origin: ast.stmt) -> ast.stmt:
    function = _at(ast.Attribute(_at(ast.Name(NAME, ast.Load()), origin), method, ast.Load()), origin)
    call = ast.Call(function, [_at(ast.Constant(start.lineno), origin)], [])
    return _at(ast.Expr(_at(call, origin)), origin)


def _assign_done(origin: ast.stmt, *, done: bool) -> ast.stmt:
    return _assign("done", ast.Constant(done), origin)


def _at(node: Node, origin: ast.AST) -> Node:
    return ast.copy_location(node, origin)
