"""Interprets a script over kinds of value, statement by statement, until nothing new is learnt."""

from __future__ import annotations

import ast
import builtins
import itertools
import sys
from collections.abc import Callable, Iterable

from paddock.planning.light import calls, expressions, lazy, matching
from paddock.planning.light.facts import Facts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope, declare
from paddock.planning.light.tables import BUILTINS, EXCEPTIONS, MODULES, PARENTS
from paddock.planning.light.things import ANY, NOTHING, NUMBERS, ORDERLESS, Kind, Kinds, Thing, shape_of

PASSES = 12
"""Kinds only ever grow, and small scripts settle in three or four passes."""

REVEALING = frozenset({"BaseException", "Exception", "AttributeError", "TypeError", "NameError", "RuntimeError"})
"""Catching one of these can hide that a feature is missing."""


class Analysis:
    """What is known so far of one script. `run` raises `Refused` at the first thing that does not fit."""

    def __init__(self, facts: Facts, names: Iterable[str], tools: Iterable[str] = ()) -> None:
        self.facts = facts
        self.tree = facts.tree
        self.given = frozenset(names)
        self.tools = frozenset(tools)
        self.module = Scope("module")
        self.scope = self.module
        self.things: dict[tuple[int, str], Thing] = {}
        self.scopes: dict[int, Scope] = {}
        self.reached: dict[int, Thing] = {}
        self.catches: frozenset[tuple[str, bool]] = frozenset()
        self.changed = False
        self.loops: list[set[str]] = []  # the names that each enclosing loop binds
        self.changes: dict[int, set[tuple[int, int]]] = {}  # thing -> where it is changed: line, and function
        self.unknown: set[str] = set()
        self.divisions: dict[int, set[tuple[str, str]]] = {}
        self.keys_read: dict[int, set[Kind]] = {}

    def run(self) -> None:
        declare(self.module, self.tree.body)
        for _ in range(PASSES):
            self.changed = False
            self.block(self.tree.body)
            done = 0
            while done < len(self.reached):
                for thing in list(self.reached.values())[done:]:
                    done += 1
                    self.function_body(thing)
            if not self.changed:
                return
        raise Refused("is too tangled to be understood")

    # What is known, and how it grows.

    def flow(self, kinds: Iterable[Kind], cell: set[Kind]) -> None:
        """Let `cell` have `kinds` too."""
        before = len(cell)
        cell.update(kinds)
        if len(cell) != before:
            self.changed = True
            if len(cell) > 60:
                raise Refused("mixes too many kinds of value")

    def thing(self, node: ast.AST, shape: str, tag: str = "") -> Thing:
        """The thing that `node` makes; the same one in every pass."""
        key = (id(node), shape + tag)
        found = self.things.get(key)
        if found is None:
            found = self.things[key] = Thing(shape, node=node)
            self.changed = True
        return found

    def named(self, shape: str, name: str) -> Thing:
        """The thing that has no place in the script: a builtin, a module, an exception class."""
        key = (0, f"{shape}:{name}")
        if key not in self.things:
            self.things[key] = Thing(shape, name=name)
        return self.things[key]

    def holding(
        self, node: ast.AST, shape: str, items: Iterable[Kind], keys: Iterable[Kind] = (), tag: str = ""
    ) -> Kinds:
        """A new container made at `node`."""
        made = self.thing(node, shape, tag)
        self.flow(items, made.items)
        if keys:
            self.flow(keys, made.keys)
            self.check_keys(made, node)
        return frozenset({made})

    def note_change(self, thing: Thing, node: ast.AST) -> None:
        """Remember that what `thing` stands for is changed at `node`."""
        where = (getattr(node, "lineno", 0), id(self.scope))
        sites = self.changes.setdefault(id(thing), set())
        if where not in sites:
            sites.add(where)
            self.changed = True

    # What a script can see of an exception.

    def diverges(self, node: ast.AST, exception: str, what: str) -> None:
        """`node` may raise `exception` with a text of its own: refuse where the script looks at it."""
        for caught, looked_at in self.catches:
            if looked_at and _catches(caught, exception):
                raise Refused(f"looks at the text of {exception} raised by {what}", node)

    def differs(self, node: ast.AST, exception: str, what: str) -> None:
        """CPython may raise `exception` at `node` where Monty does not, or the reverse: refuse where it is caught."""
        if any(_catches(caught, exception) for caught, _ in self.catches):
            raise Refused(f"catches {exception} raised by {what}", node)

    def strict(self) -> bool:
        """Whether a feature that is missing would be swallowed here."""
        return any(caught in REVEALING for caught, _ in self.catches)

    def check_keys(self, made: Thing, node: ast.AST) -> None:
        # {1: 'a', True: 'b'} keeps the first key in CPython and the last in Monty.
        if len(made.keys & NUMBERS) > 1:
            raise Refused("mixes kinds of number as keys", node)
        for key in made.keys:
            if shape_of(key) in ("list", "dict", "set", "any", "instance"):
                self.diverges(node, "TypeError", "an unhashable key")

    def check_shown(
        self, kinds: Iterable[Kind], node: ast.AST, seen: set[int] | None = None, *, as_text: bool = False
    ) -> None:
        """Refuse what prints differently: the order of a set, addresses, names of functions and classes.

        `as_text`: by `str()`, which asks an object for `__str__` first; all that it holds is shown by `repr()`.
        """
        seen = set() if seen is None else seen
        for kind in kinds:
            if kind == "dyadic":
                raise Refused("shows a long binary fraction without rounding it", node)
            if kind in ("re.Pattern", "text file", "binary file", "hash", "stat"):
                raise Refused(f"shows a value of kind {kind}", node)
            if isinstance(kind, str) or id(kind) in seen:
                continue
            seen.add(id(kind))
            if kind.shape in ORDERLESS:
                raise Refused("shows a set, whose order differs", node)
            if kind.shape == "instance":
                if not self.has_method(kind, "__repr__") and not (as_text and self.has_method(kind, "__str__")):
                    raise Refused("shows an object without __repr__", node)
                if kind.of is not None and kind.of.name == "dataclass":
                    self.check_shown(set().union(*kind.fields.values()), node, seen)
                continue
            if kind.shape not in SHOWN or kind.name == "own factory":
                raise Refused(f"shows a {kind.shape}", node)
            if kind.shape == "exception":
                continue
            self.check_shown(kind.held(), node, seen)
            self.check_shown(kind.keys, node, seen)

    def may_be_negative(self, node: ast.AST | None, depth: int = 0) -> bool:
        """Whether a number can come out negative, as far as the text of the script tells."""
        if node is None or depth > 5:
            return True
        if isinstance(node, ast.Name):
            bound = self.facts.bindings.get(node.id)
            if bound is None:
                return self.facts.has_negatives
            return any(self.may_be_negative(value, depth + 1) for value in bound)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("abs", "len"):
            return False
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
            return node.right.value != 2 and self.may_be_negative(node.left, depth + 1)
        if isinstance(node, ast.BinOp | ast.UnaryOp) and isinstance(node.op, ast.Sub | ast.USub):
            return True
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, int | float) or node.value < 0
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return any(self.may_be_negative(child, depth + 1) for child in children if not isinstance(child, ast.Attribute))

    def has_method(self, instance: Thing, name: str) -> bool:
        owner = instance.of
        return owner is not None and (name in _class_scope(owner).names or owner.name == "dataclass")

    # Statements.

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            STATEMENTS[type(statement)](self, statement)

    def value(self, node: ast.expr) -> Kinds:
        return expressions.EXPRESSIONS[type(node)](self, node)

    def function_body(self, thing: Thing) -> None:
        scope, node = thing.scope, thing.node
        if not isinstance(scope, Scope):
            return
        before, self.scope = self.scope, scope
        caught, self.catches = self.catches, frozenset(scope.catches)
        around, self.loops = self.loops, []
        if isinstance(node, ast.Lambda):
            self.flow(self.value(node.body), scope.returned)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.block(node.body)
            if _may_fall_through(node.body):
                self.flow({"none"}, scope.returned)
        self.scope, self.catches, self.loops = before, caught, around

    def lookup(self, name: str, node: ast.AST) -> Kinds:
        found = self.scope.find(name)
        known = name in BUILTINS or name in EXCEPTIONS
        if found is not None and (found is not self.module.names.get(name) or not known):
            return frozenset(found)
        if found is not None:
            # Where the script has not bound it yet, the name is still the builtin's.
            return frozenset(found) | self.builtin(name, node)
        return self.builtin(name, node)

    def builtin(self, name: str, node: ast.AST) -> Kinds:
        """What `name` is where the script does not bind it."""
        if name in self.tools or name in BRIDGE:
            return frozenset({self.named("tool", name)})
        if name in self.given:
            return ANY
        if name in BUILTINS:
            return frozenset({self.named("builtin", name)})
        if name in EXCEPTIONS:
            return frozenset({self.named("exception class", name)})
        if name == "__name__":
            return frozenset({"str"})
        if hasattr(builtins, name):
            raise Refused(f"uses {name}", node)
        if name in sys.stdlib_module_names:
            raise Refused(f"uses {name} without importing it", node)
        self.unknown.add(name)
        handled = not self.catches or any(_catches(caught, "NameError") for caught, _ in self.catches)
        if len(self.unknown) > 1 or not handled:
            raise Refused(f"uses the unknown name {name}", node)
        return NOTHING  # a NameError, in the same words

    def bind(self, target: ast.expr, kinds: Kinds) -> None:
        """Assign values of `kinds` to `target`."""
        if isinstance(target, ast.Name):
            self.flow(kinds, self.scope.cell(target.id))
        elif isinstance(target, ast.Starred):
            self.bind(target.value, self.holding(target, "list", kinds))
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, kinds)
        elif isinstance(target, ast.Subscript):
            expressions.store_item(self, target, kinds)
        elif isinstance(target, ast.Attribute):
            expressions.store_attribute(self, target, kinds)
        else:
            raise Refused("assigns to something unusual", target)

    def unpack(self, target: ast.Tuple | ast.List, kinds: Kinds) -> None:
        wanted = len(target.elts)
        starred = any(isinstance(element, ast.Starred) for element in target.elts)
        for kind in kinds:
            if isinstance(kind, Thing) and kind.shape == "tuple" and kind.fields and not starred:
                if len(kind.fields) != wanted or kind.items:
                    self.diverges(target, "ValueError", "unpacking")
                for position, element in enumerate(target.elts):
                    self.bind(element, frozenset(kind.fields.get(position, set()) | kind.items))
                continue
            self.diverges(target, "ValueError", "unpacking")
            items = lazy.iterate(self, frozenset({kind}), target)
            for element in target.elts:
                self.bind(element, items)


BROAD = frozenset({"Exception", "BaseException"})
BRIDGE = frozenset({"call_tool", "report_progress"})
SHOWN = frozenset({"type object"}) | frozenset(
    {"list", "tuple", "dict", "Counter", "defaultdict", "deque", "range", "view", "record value", "exception"}
)


def _catches(caught: str, exception: str) -> bool:
    name: str | None = exception
    while name is not None:
        if name == caught:
            return True
        name = PARENTS.get(name)
    return False


def _class_scope(owner: Thing) -> Scope:
    assert isinstance(owner.scope, Scope)  # noqa: S101  every class thing is made with one
    return owner.scope


def _may_fall_through(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return not last.orelse or _may_fall_through(last.body) or _may_fall_through(last.orelse)
    return not (isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value)


def _expr(a: Analysis, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and node.value.value is ... and node is not a.tree.body[-1]:
        return
    kinds = a.value(node.value)
    if any(shape_of(kind) == "coroutine" for kind in kinds):
        raise Refused("calls a coroutine without awaiting it", node)
    if a.scope is a.module and node is a.tree.body[-1]:
        a.check_shown(kinds, node)


def _assign(a: Analysis, node: ast.Assign) -> None:
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        targets, values = node.targets[0].elts, node.value.elts
        plain = not any(isinstance(e, ast.Starred) for e in (*targets, *values))
        if plain and len(targets) == len(values):
            for target, kinds in zip(targets, [a.value(value) for value in values], strict=True):
                a.bind(target, kinds)
            return
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple | ast.List) and lazy.is_lazy(a, node.value):
        a.unpack(node.targets[0], a.holding(node.value, "list", lazy.consume(a, node.value)))
        return
    kinds = a.value(node.value)
    for target in node.targets:
        a.bind(target, kinds)


def _ann_assign(a: Analysis, node: ast.AnnAssign) -> None:
    if a.scope.kind != "function":
        check_annotation(a, node.annotation)
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
    expressions.check_augmented(a, node, left, right)
    a.bind(target, expressions.binary(a, node, left, node.op, right, node.value))


def check_annotation(a: Analysis, node: ast.expr | None) -> None:
    """CPython evaluates annotations and Monty does not: refuse one that could fail, or do something."""
    if node is None or a.facts.has_future:
        return
    if isinstance(node, ast.Constant):
        if node.value is not None and not isinstance(node.value, str):
            raise Refused("has an unusual annotation", node)
    elif isinstance(node, ast.Name):
        if node.id not in ANNOTATIONS and not a.scope.find(node.id):
            raise Refused(f"has an annotation with the name {node.id}, which is not known there", node)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
        _check_generic(a, node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        for side in (node.left, node.right):
            if isinstance(side, ast.Constant) and side.value is not None:
                raise Refused("has an unusual annotation", node)
            check_annotation(a, side)
    elif isinstance(node, ast.Attribute):
        a.value(node)
    else:
        raise Refused("has an unusual annotation", node)


ANNOTATIONS = frozenset(
    {"int", "float", "str", "bool", "bytes", "list", "dict", "tuple", "set", "frozenset", "object", "type"}
)
GENERICS = {
    "list": 1, "set": 1, "frozenset": 1, "type": 1, "dict": 2, "tuple": 0, "List": 1, "Set": 1, "FrozenSet": 1, "Dict": 2,
    "Tuple": 0, "Optional": 1, "Union": 0, "Iterable": 1, "Iterator": 1, "Sequence": 1, "Mapping": 2, "Literal": 0,
    "Callable": 2, "Counter": 1, "defaultdict": 2, "deque": 1, "Final": 1, "ClassVar": 1,
}  # fmt: skip


def _check_generic(a: Analysis, node: ast.Subscript) -> None:
    """`list[int]`, `dict[str, int]`, `Optional[str]`, … with as many parts as there must be."""
    name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    if name not in GENERICS or (
        name not in ANNOTATIONS and isinstance(node.value, ast.Name) and not a.scope.find(name)
    ):
        raise Refused("has an unusual annotation", node)
    if isinstance(node.value, ast.Attribute):
        a.value(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if GENERICS[name] and len(parts) != GENERICS[name]:
        raise Refused("has an annotation with the wrong number of parts", node)
    for part in parts:
        if name == "Literal" or (isinstance(part, ast.Constant) and part.value is ...):
            continue
        for inner in part.elts if isinstance(part, ast.List) else [part]:
            check_annotation(a, inner)


def _for(a: Analysis, node: ast.For) -> None:
    lazy.check_loop(a, node)
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
        a.check_shown(kinds, node)


def _raise(a: Analysis, node: ast.Raise) -> None:
    if node.exc is None:
        # Where it ends the run, the line that is reported is this one and not that of its origin.
        if not any(caught in BROAD for caught, _ in a.catches):
            raise Refused("raises an exception again", node)
        return
    for kind in a.value(node.exc):
        if not isinstance(kind, Thing) or kind.shape not in ("exception class", "exception"):
            raise Refused("raises something that is not an exception", node)
        if kind.shape == "exception" and kind.node is None:
            raise Refused("raises an exception that it caught", node)
        if a.catches and not any(_catches(caught, kind.name) for caught, _ in a.catches):
            # On its way out it passes a handler, and then that is where Monty says it came from.
            raise Refused("raises an exception past a handler", node)
    if node.cause is not None:
        a.value(node.cause)


def _try(a: Analysis, node: ast.Try) -> None:
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
        for kind in a.value(node):
            if not isinstance(kind, Thing) or kind.shape != "exception class":
                raise Refused("catches something that is not an exception class", node)
            names.append(kind.name)
    if "RecursionError" in names:
        raise Refused("catches RecursionError, whose depth differs", handler)
    return names


def _looks_at(handler: ast.ExceptHandler) -> bool:
    """Whether the handler can see the text of its exception: any use but `type(e).__name__`, `isinstance` or a cause."""
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
    inside = sum(isinstance(n, ast.Name) and n.id == handler.name for part in handler.body for n in ast.walk(part))
    anywhere = sum(isinstance(n, ast.Name) and n.id == handler.name for n in a.facts.nodes)
    handlers = [n for n in a.facts.nodes if isinstance(n, ast.ExceptHandler) and n.name == handler.name]
    if len(handlers) > 1:
        inside = sum(
            isinstance(n, ast.Name) and n.id == handler.name
            for h in handlers
            for part in h.body
            for n in ast.walk(part)
        )
    return anywhere > inside


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
        kinds = expressions.module_attribute(a, module, alias.name, node)
        a.flow(kinds, a.scope.cell(alias.asname or alias.name))


def _function(a: Analysis, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        check_annotation(a, argument.annotation if argument is not None else None)
    check_annotation(a, node.returns)
    kinds: Kinds = frozenset({expressions.function(a, node)})
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
    before, a.scope = a.scope, made.scope if isinstance(made.scope, Scope) else a.scope
    a.block(node.body)
    a.scope = before
    a.flow({made}, a.scope.cell(node.name))


def _with(a: Analysis, node: ast.With) -> None:
    for item in node.items:
        entered: set[Kind] = set()
        for kind in a.value(item.context_expr):
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


STATEMENTS: dict[type[ast.stmt], Callable[[Analysis, ast.stmt], None]] = {
    ast.Expr: _expr,  # type: ignore[dict-item]
    ast.Assign: _assign,  # type: ignore[dict-item]
    ast.AnnAssign: _ann_assign,  # type: ignore[dict-item]
    ast.AugAssign: _aug_assign,  # type: ignore[dict-item]
    ast.For: _for,  # type: ignore[dict-item]
    ast.While: _while,  # type: ignore[dict-item]
    ast.If: _if,  # type: ignore[dict-item]
    ast.Return: _return,  # type: ignore[dict-item]
    ast.Raise: _raise,  # type: ignore[dict-item]
    ast.Try: _try,  # type: ignore[dict-item]
    ast.Assert: _assert,  # type: ignore[dict-item]
    ast.Import: _import,  # type: ignore[dict-item]
    ast.ImportFrom: _import_from,  # type: ignore[dict-item]
    ast.FunctionDef: _function,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: _function,  # type: ignore[dict-item]
    ast.ClassDef: _class,  # type: ignore[dict-item]
    ast.With: _with,  # type: ignore[dict-item]
    ast.Match: _match,  # type: ignore[dict-item]
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Pass: _nothing,
    ast.Break: _nothing,
    ast.Continue: _nothing,
}
