"""Interprets a script over kinds of value, statement by statement, until nothing new is learnt."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable

from paddock.planning.light import (
    attributes,
    depths,
    exceptions,
    expressions,
    keys,
    lazy,
    objects,
    statements,
    subscripts,
)
from paddock.planning.light.facts import Facts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope, declare
from paddock.planning.light.tables import BUILTINS, EXCEPTIONS
from paddock.planning.light.things import ANY, NOTHING, ORDERLESS, Kind, Kinds, Thing, in_order
from paddock.planning.light.unlike import KeyUse

PASSES = 12
"""Kinds only ever grow, and small scripts settle in three or four passes."""

BRIDGE = frozenset({"call_tool", "report_progress", "create_artifact"})
"""What every script may call to reach the caller's side."""

SHOWN = frozenset({
    "list", "tuple", "dict", "Counter", "defaultdict", "deque", "range", "view", "record value", "exception",
    "type object",
})  # fmt: skip
"""Shapes whose `repr()` is the same on both sides."""


class Analysis:
    """What is known so far of one script. `run` raises `Refused` at the first thing that does not fit."""

    def __init__(self, facts: Facts, names: Iterable[str], tools: Iterable[str] = ()) -> None:
        self.facts = facts
        self.tree = facts.tree
        self.steps = 0
        # Nested calls can be evaluated again at each level: what is hostile ends in a tenth of a second.
        self.most_steps = min(10_000 + 40 * len(facts.nodes), 150_000)
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
        self.removals: dict[int, set[tuple[int, int]]] = {}  # those that take something out
        self.additions: dict[int, set[tuple[int, int]]] = {}  # the others
        self.calls: dict[int, dict[int, set[str]]] = {}  # function -> function -> the ways in which it calls it
        self.definitions: dict[int, ast.AST] = {}
        self.unknown: set[str] = set()
        self.divisions: dict[int, set[tuple[str, str]]] = {}
        self.keys_read: dict[int, set[Kind]] = {}
        self.lost_keys: set[Kind] = set()  # of dicts that were put into values of unknown kind
        self.key_sources: dict[tuple[str, int], frozenset[str]] = {}  # of names, in a scope; forgotten at each pass
        self.lost_numbers: dict[str, set[str]] = {}  # the kinds of number that were, by the name of their field
        self.doubts: set[str] = set()  # what is looked at of keys that may have been stored again: see `keys`
        self.doubted: ast.AST | None = None
        self.computes = self.divides = False  # whether values of unknown kind are computed from each other
        self.scattered = False  # whether such values are put into others under names that are not known
        self.counts = False  # whether it counts to numbers that it is given
        self.asks = False  # whether a tool is asked

    def run(self) -> None:
        """Interpret the script until a pass teaches nothing new; raises `Refused` where it does not fit."""
        declare(self.module, self.tree.body)
        for _ in range(PASSES):
            self.changed = False
            self.key_sources.clear()
            self.block(self.tree.body)
            done = 0
            while done < len(self.reached):
                for thing in list(self.reached.values())[done:]:
                    done += 1
                    self.function_body(thing)
            if not self.changed:
                depths.check_recursion(self)
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
        self,
        node: ast.AST,
        shape: str,
        items: Iterable[Kind],
        named: Iterable[Kind] = (),
        tag: str = "",
        origin: ast.expr | None = None,
    ) -> Kinds:
        """A new container made at `node`."""
        made = self.thing(node, shape, tag)
        self.flow(items, made.items)
        if named:
            self.flow(named, made.keys)
            self.check_keys(made, node, frozenset(named), (origin,))
        return frozenset({made})

    def note_change(self, thing: Thing, node: ast.AST, *, removes: bool = False) -> None:
        """Remember that what `thing` stands for is changed at `node`."""
        where = (getattr(node, "lineno", 0), id(self.scope))
        for kept in (self.changes, self.removals if removes else self.additions):
            sites = kept.setdefault(id(thing), set())
            if where not in sites:
                sites.add(where)
                self.changed = True

    # What a script can see of an exception.

    def diverges(self, node: ast.AST, exception: str, what: str) -> None:
        """`node` may raise `exception` with a text of its own: refuse where the script looks at it."""
        for caught, looked_at in self.catches:
            if looked_at and exceptions.catches(caught, exception):
                raise Refused(f"looks at the text of {exception} raised by {what}", node)

    def differs(self, node: ast.AST, exception: str, what: str) -> None:
        """CPython may raise `exception` at `node` where Monty does not, or the reverse: refuse where it is caught."""
        if any(exceptions.catches(caught, exception) for caught, _ in self.catches):
            raise Refused(f"catches {exception} raised by {what}", node)

    def strict(self) -> bool:
        """Whether a feature that is missing would be swallowed here."""
        return any(caught in exceptions.REVEALING for caught, _ in self.catches)

    def check_keys(
        self, made: Thing, node: ast.AST, stored: Kinds | None = None, origins: keys.Origins = (None,)
    ) -> None:
        """Refuse keys of a dict that may be equal without being alike, or not hashable."""
        keys.check(self, made, node, stored, origins)

    def key_use(self) -> KeyUse | None:
        """What the script does with keys that may be equal without being alike, by the text that it is given."""
        return keys.use_of(self)

    def check_shown(
        self,
        kinds: Kinds | set[Kind],
        node: ast.AST,
        seen: set[int] | None = None,
        *,
        as_text: bool = False,
        leaves: bool = False,
    ) -> None:
        """Refuse what prints differently: the order of a set, addresses, names of functions and classes.

        `as_text`: by `str()`, which asks an object for `__str__` first; all that it holds is shown by `repr()`.
        `leaves`: it goes straight out, where floats are put right.
        """
        if seen is None:
            depths.check_nested(self, kinds, node, "shows")
        seen = set() if seen is None else seen
        for kind in in_order(kinds):
            if kind == "dyadic" and not leaves:
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
                    self.check_shown(set().union(*kind.fields.values()), node, seen, leaves=leaves)
                continue
            if kind.shape not in SHOWN or kind.name == "own factory":
                raise Refused(f"shows a {kind.shape}", node)
            if kind.shape == "exception":
                continue
            keys.read(self, kind, node)
            self.check_shown(kind.held(), node, seen, leaves=leaves)
            self.check_shown(kind.keys, node, seen, leaves=leaves)

    def has_method(self, instance: Thing, name: str) -> bool:
        """Whether an object answers to the special method `name`; a dataclass has all that matter here."""
        return objects.has(instance, name) or (instance.of is not None and instance.of.name == "dataclass")

    # Statements.

    def block(self, body: list[ast.stmt]) -> None:
        """Interpret statements, one after the other."""
        for statement in body:
            statements.STATEMENTS[type(statement)](self, statement)

    def value(self, node: ast.expr) -> Kinds:
        """The kinds that an expression can have."""
        self.steps += 1
        if self.steps > self.most_steps:
            raise Refused("is too tangled to be understood", node)
        return expressions.EXPRESSIONS[type(node)](self, node)

    def function_body(self, thing: Thing) -> None:
        """Interpret the inside of a function that is reached, under what its callers catch."""
        scope, node = thing.scope, thing.node
        if scope is None:
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
        """The kinds of a name, as seen from the present scope."""
        found = self.scope.find(name)
        known = name in BUILTINS or name in EXCEPTIONS
        if found is not None and (found is not self.module.names.get(name) or not known):
            return frozenset(found)
        if found is not None:
            # Where the script has not bound it yet, the name is still the builtin's.
            return frozenset(found) | self.builtin(name, node)
        return self.builtin(name, node)

    def literal(self, node: ast.expr) -> str | None:
        """The text of a literal, or of a name that its scope binds once, to a literal."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return self.scope.literal(node.id) if isinstance(node, ast.Name) else None

    def builtin(self, name: str, node: ast.AST) -> Kinds:
        """What `name` is where the script does not bind it."""
        if name in self.tools or name in BRIDGE:
            self.asks = self.asks or name != "report_progress"
            return frozenset({self.named("tool", name)})
        if name in self.given:
            return ANY
        if name == "read_artifact":
            raise Refused("reads an artifact", node)  # of unknown content, which may be bytes
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
        handled = not self.catches or any(exceptions.catches(caught, "NameError") for caught, _ in self.catches)
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
            subscripts.store(self, target, kinds)
        elif isinstance(target, ast.Attribute):
            attributes.store(self, target, kinds)
        else:
            raise Refused("assigns to something unusual", target)

    def unpack(self, target: ast.Tuple | ast.List, kinds: Kinds) -> None:
        """Assign the items of values of `kinds` to several targets."""
        wanted = len(target.elts)
        starred = any(isinstance(element, ast.Starred) for element in target.elts)
        for kind in in_order(kinds):
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


def _may_fall_through(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return not last.orelse or _may_fall_through(last.body) or _may_fall_through(last.orelse)
    return not (isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value)
