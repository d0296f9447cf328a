"""What the syntax tree says by itself, gathered in one walk and worked out when first asked for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

from paddock.planning.light import patterns, stamps, texts, unpacking
from paddock.planning.light.awaited import awaited

SKIPPED = frozenset({"ctx", "op", "ops", "type_comment", "kind"})
CALCULATING = frozenset({"abs", "sum", "round", "pow", "reduce", "divmod", "prod"})
JSON_SCALARS = frozenset("tf-0123456789")


def walk(tree: ast.AST) -> tuple[list[ast.AST], list[int]]:
    """Every node below `tree`, with its depth; contexts and operators are left out."""
    nodes, depths = [tree], [0]
    for node, depth in zip(nodes, depths, strict=True):  # both lists grow while they are read
        for name in node._fields:
            if name in SKIPPED:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        nodes.append(item)
                        depths.append(depth + 1)
            elif isinstance(value, ast.AST):
                nodes.append(value)
                depths.append(depth + 1)
    return nodes, depths


def _changed(node: ast.AST) -> list[str]:
    target: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target = node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        target = node.value
    return [target.id] if isinstance(target, ast.Name) else []


def _numbers(node: ast.AST) -> list[int]:
    """The whole numbers in an expression that is not data."""
    if isinstance(node, ast.Constant):
        return [node.value] if type(node.value) is int else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Pow):
        return [*_numbers(node.left), *_numbers(node.right)]
    if isinstance(node, ast.Compare):
        return [number for side in (node.left, *node.comparators) for number in _numbers(side)]
    return []


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _pair_up(found: dict[str, list[ast.expr]], target: ast.expr, value: ast.expr) -> None:
    """Enter `value` for `target`, or the parts of one for those of the other."""
    if isinstance(target, ast.Name):
        found.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, other in zip(target.elts, value.elts, strict=False):
            _pair_up(found, one, other)


def _parts(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: `a, b = x, y` is two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts)):
            return []
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


class Facts:
    """Facts about one script."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.nodes, self.depths = walk(tree)
        self.bits: dict[str, float] = {}  # of the numbers that names stand for; worked out by `ranges`
        self.unread: set[str] = set()  # names of numbers that are not read from text, by the same

    @cached_property
    def odd_text(self) -> Mapping[str, str]:
        """What the script must not do with text, because of a character of its own, which is named."""
        return texts.in_script(self.nodes)

    @cached_property
    def text_uses(self) -> frozenset[str]:
        """What the script does with text that depends on more than its ASCII characters."""
        return texts.uses(self.nodes)

    @cached_property
    def has_negatives(self) -> bool:
        """Whether the script has a minus sign before anything."""
        return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) for node in self.nodes)

    @cached_property
    def makes_huge(self) -> bool:
        """Whether the script may make a whole number too large for a float: by powers, shifts, products, long text."""
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > 100:
                return True
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
                return True
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                by = node.right.value if isinstance(node.right, ast.Constant) else None
                if not isinstance(by, int | float) or by > 4:
                    return True
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult | ast.LShift | ast.Pow):
                return True
            if isinstance(node, ast.Name | ast.Attribute):
                name = node.id if isinstance(node, ast.Name) else node.attr
                if name in ("pow", "factorial", "comb", "perm", "prod", "reduce", "int"):
                    return True
        return False

    @cached_property
    def mended_patterns(self) -> frozenset[int]:
        """Identities of the literals that are mended before they reach Monty."""
        return frozenset(id(literal) for literal, _ in patterns.mended(self.nodes))

    @cached_property
    def mended_stamps(self) -> frozenset[int]:
        """Identities of the calls that parse a date and are mended before they reach Monty."""
        return frozenset(id(call) for call in stamps.mended(self.nodes))

    @cached_property
    def bounded(self) -> frozenset[int]:
        """Identities of the lists of which Monty is given no more than CPython would read."""
        return frozenset(id(source) for source, _ in unpacking.bounded(self.nodes))

    @cached_property
    def data(self) -> list[str]:
        """The script's own text that may be JSON."""
        found = [node.value for node in self.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        return [
            text for text in found if "[" in text or "{" in text or text.strip()[:1] in JSON_SCALARS or "-0" in text
        ]

    @cached_property
    def bound_by(self) -> dict[str, list[tuple[ast.expr | None, str]]]:
        """All that binds each name: values ("") and what loops run over, for "each" item or the "first" of each."""
        found: dict[str, list[tuple[ast.expr | None, str]]] = {}
        known: set[int] = set()

        def enter(target: ast.AST, value: ast.expr | None, looped: str) -> None:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append((value, looped))
                known.add(id(target))

        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for one, other in _parts(target, node.value):
                        enter(one, other, "")
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                enter(node.target, node.value, "")
            elif isinstance(node, ast.For | ast.comprehension):
                enter(node.target, node.iter, "each")
                if isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2:
                    enter(node.target.elts[0], node.iter, "first")
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in known:
                found.setdefault(node.id, []).append((None, ""))
            elif isinstance(node, ast.arg):
                found.setdefault(node.arg, []).append((None, ""))
            elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping):
                name = node.rest if isinstance(node, ast.MatchMapping) else node.name
                found.setdefault(name or "", []).append((None, ""))
        return found

    @cached_property
    def written(self) -> dict[str, list[ast.expr]]:
        """What the script itself puts under each name, into whatever dict."""
        found: dict[str, list[ast.expr]] = {}

        def enter(name: ast.expr | str | None, value: ast.expr) -> None:
            text = name.value if isinstance(name, ast.Constant) else name
            if isinstance(text, str):
                found.setdefault(text, []).append(value)

        for node in self.nodes:
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    enter(key, value)
            elif isinstance(node, ast.Call):
                for keyword in node.keywords:
                    enter(keyword.arg, keyword.value)
                if len(node.args) == 2:
                    enter(node.args[0], node.args[1])
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                whole = isinstance(node, ast.Assign | ast.AnnAssign)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for one, other in _parts(target, node.value):
                        if isinstance(one, ast.Subscript):
                            enter(one.slice, other if whole else ast.BinOp(other, ast.Add(), other))
        return found

    @cached_property
    def calculates(self) -> bool:
        """Whether the script calls a function that makes numbers of numbers."""
        return any(isinstance(node, ast.Name) and node.id in CALCULATING for node in self.nodes)

    @cached_property
    def returned(self) -> dict[str, list[ast.expr]]:
        """What the functions of each name may return."""
        functions = [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return {
            one.name: [node.value for node in walk(one)[0] if isinstance(node, ast.Return) and node.value is not None]
            for one in functions
        }

    def values_of(self, name: str) -> list[ast.expr]:
        """What the script assigns or passes to `name`, and what it loops over under that name."""
        looped = [value for value, way in self.bound_by.get(name, ()) if way and value is not None]
        return [*self.given_to(name), *looped]

    @cached_property
    def has_future(self) -> bool:
        """Whether annotations are not evaluated in CPython either."""
        return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in self.tree.body)

    @cached_property
    def bindings(self) -> dict[str, list[ast.expr]]:
        """What each name is assigned, where plain and augmented assignments are all that binds it."""
        found: dict[str, list[ast.expr]] = {}
        other: set[str] = set()
        counted: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
                        counted.add(id(target))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                minus = isinstance(node.op, ast.Sub)
                value = ast.UnaryOp(ast.USub(), node.value) if minus else node.value
                found.setdefault(node.target.id, []).append(value)
                counted.add(id(node.target))
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in counted:
                other.add(node.id)
            elif isinstance(node, ast.arg):
                other.add(node.arg)
        return {name: values for name, values in found.items() if name not in other}

    @cached_property
    def awaited(self) -> frozenset[int]:
        """Identities of the calls whose coroutine, if they give one, is awaited."""
        return awaited(self.nodes)

    @cached_property
    def multiplied(self) -> frozenset[str]:
        """Names that `*=`, `**=` or `<<=` makes larger in a loop."""
        found: set[str] = set()
        for loop in self.nodes:
            if isinstance(loop, ast.For | ast.While):
                for node in walk(loop)[0]:
                    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult | ast.Pow | ast.LShift):
                        found |= {node.target.id} if isinstance(node.target, ast.Name) else set()
        return frozenset(found)

    def given_to(self, name: str) -> list[ast.expr]:
        """What the script assigns or passes to `name`, by the text alone: any variable or parameter of that name."""
        return self._given.get(name, [])

    @cached_property
    def _given(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        functions = {node.name: node.args for node in self.nodes if isinstance(node, ast.FunctionDef)}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    _pair_up(found, target, node.value)
            elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                _pair_up(found, node.target, node.value)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.List | ast.Tuple):
                for element in node.iter.elts:
                    _pair_up(found, node.target, element)
            elif isinstance(node, ast.ImportFrom) and node.module == "sys":
                for alias in node.names:
                    source = ast.Attribute(ast.Name("sys", ast.Load()), alias.name, ast.Load())
                    found.setdefault(alias.asname or alias.name, []).append(source)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
                parameters = functions[node.func.id]
                for parameter, argument in zip((*parameters.posonlyargs, *parameters.args), node.args, strict=False):
                    found.setdefault(parameter.arg, []).append(argument)
                for keyword in node.keywords:
                    found.setdefault(keyword.arg or "", []).append(keyword.value)
        return found

    @cached_property
    def counted(self) -> frozenset[int]:
        """The numbers by which the script may count: of a range, a loop, a call, or given a name of their own."""
        counted: list[ast.AST] = []
        for node in self.nodes:
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
                counted += [*node.args, *(keyword.value for keyword in node.keywords)]
            elif isinstance(node, ast.While):
                counted.append(node.test)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant | ast.BinOp):
                counted.append(node.value)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                counted.append(node)
        return frozenset(number for node in counted for number in _numbers(node))

    @cached_property
    def farthest(self) -> int:
        """The largest of these."""
        return max(self.counted, default=0)

    @cached_property
    def awaits(self) -> bool:
        """Whether the script awaits anything."""
        return any(isinstance(node, ast.Await) for node in self.nodes)

    @cached_property
    def awaits_at_top(self) -> bool:
        """Whether it does so outside functions."""
        return any(isinstance(node, ast.Await) for node in self._top)

    @cached_property
    def returns_at_top(self) -> bool:
        """Whether the script has a `return` outside functions."""
        return any(isinstance(node, ast.Return) for node in self._top)

    @cached_property
    def _top(self) -> list[ast.AST]:
        """The nodes outside functions and classes."""
        found: list[ast.AST] = []
        stack: list[ast.AST] = list(self.tree.body)
        while stack:
            node = stack.pop()
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                found.append(node)
                stack.extend(ast.iter_child_nodes(node))
        return found

    @cached_property
    def subtracts(self) -> bool:
        """Whether the script subtracts anything."""
        return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) for node in self.nodes)

    @cached_property
    def changed_from_afar(self) -> frozenset[str]:
        """Names of what a function changes without having made it, or being given it."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inside, _ = walk(node)
                own = {inner.arg for inner in inside if isinstance(inner, ast.arg)}
                own |= {
                    inner.id for inner in inside if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
                }
                found |= {name for inner in inside for name in _changed(inner)} - own
        return frozenset(found)

    @cached_property
    def only_augmented(self) -> frozenset[str]:
        """Names that are only ever bound by `x += …`: the first of these fails."""
        augmented = {n.target.id for n in self.nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        targets = {id(n.target) for n in self.nodes if isinstance(n, ast.AugAssign)}
        bound = {
            n.id
            for n in self.nodes
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in targets
        }
        bound |= {n.arg for n in self.nodes if isinstance(n, ast.arg)}
        return frozenset(augmented - bound)

    @cached_property
    def first_stores(self) -> frozenset[int]:
        """Identities of the targets in `if k not in d: d[k] = …`, where k is certain to be new."""
        found: set[int] = set()
        for node in self.nodes:
            test = node.test if isinstance(node, ast.If) else None
            if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn) or len(test.ops) > 1:
                continue
            first = node.body[0] if isinstance(node, ast.If) else None
            if not isinstance(first, ast.Assign) or len(first.targets) > 1:
                continue
            target = first.targets[0]
            plain = not any(isinstance(inner, ast.Call) for side in (test, first) for inner in ast.walk(side))
            if plain and isinstance(target, ast.Subscript) and _same(target.slice, test.left):
                found |= {id(target)} if _same(target.value, test.comparators[0]) else set()
        return frozenset(found)

    def single(self, name: str) -> ast.expr | None:
        """What `name` is bound to, where the whole script binds it once, by an assignment."""
        bound = self.bindings.get(name, [])
        return bound[0] if len(bound) == 1 else None
