"""Named tuples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import functions
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import STR, Kinds, Thing

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def namedtuple(a: Analysis, node: ast.Call) -> Kinds:
    """What `namedtuple(name, fields)` gives, of fields that can be read."""
    fields = node.args[1]
    names: list[str] = []
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    elif isinstance(fields, ast.List | ast.Tuple):
        names = [str(element.value) for element in fields.elts if isinstance(element, ast.Constant)]
    if not names or not all(name.isidentifier() for name in names) or not isinstance(node.args[0], ast.Constant):
        raise Refused("makes a namedtuple with fields that are not literals", node)
    made = a.thing(node, "record")
    for name in names:
        made.fields.setdefault(name, set())
    return frozenset({made})


def make(a: Analysis, node: ast.Call, record: Thing) -> Kinds:
    """A value of a named tuple; all of one class are one thing."""
    positional, keywords = functions.arguments_of(a, node)
    names = [str(name) for name in record.fields]
    if len(positional) + len(keywords) != len(names) or not keywords.keys() <= set(names[len(positional) :]):
        raise Refused("makes a namedtuple with the wrong arguments", node)
    made = a.thing(record.node or node, "record value")
    for name, kinds in (*zip(names, positional, strict=False), *keywords.items()):
        a.flow(kinds, made.fields.setdefault(name, set()))
    return frozenset({made})


def call_method(a: Analysis, node: ast.Call, kind: Thing, name: str) -> Kinds:
    """`value._asdict()` or `value._replace(…)`."""
    _, keywords = functions.arguments_of(a, node)
    if name == "_asdict" and not node.args and not keywords:
        made = a.thing(node, "dict")
        a.flow(STR, made.keys)
        for field, kinds in kind.fields.items():
            a.flow(kinds, made.fields.setdefault(field, set()))
        return frozenset({made})
    if name == "_replace" and keywords.keys() <= {str(field) for field in kind.fields} and not node.args:
        for field, new in keywords.items():
            a.flow(new, kind.fields[field])
        return frozenset({kind})
    raise Refused(f"uses the method {name} of a namedtuple", node)
