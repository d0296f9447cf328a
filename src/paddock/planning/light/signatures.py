"""How often and how a function may be called, read from the tables."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import BUILTINS, MODULES


@dataclass(frozen=True, slots=True)
class Signature:
    """How often and how a function may be called, and what it gives."""

    least: int
    most: int
    keywords: frozenset[str]
    result: str


@lru_cache(maxsize=1024)
def parse(text: str) -> Signature:
    """The signature that an entry of the tables spells."""
    match = re.fullmatch(r"(\d+)-(\d+)(?:\[([^\]]*)\])? (.*)", text)
    if match is None:
        raise ValueError(f"bad table entry {text!r}")
    least, most, keywords, result = match.groups()
    return Signature(int(least), int(most), frozenset((keywords or "").split(",")) - {""}, result)


def of_name(name: str) -> Signature:
    """The signature of a builtin (`len`) or module function (`math.sqrt`)."""
    module, _, attribute = name.rpartition(".")
    return parse(MODULES[module][attribute] if module else BUILTINS[name])


def check(node: ast.Call, signature: Signature, name: str) -> None:
    """Refuse a call with arguments that are not known to be taken."""
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if len(node.args) > signature.most or (len(node.args) < signature.least and not starred):
        raise Refused(f"calls {name}() with {len(node.args)} arguments", node)
    if starred and signature.most < 9:
        raise Refused(f"unpacks the arguments of {name}()", node)
    for keyword in node.keywords:
        if keyword.arg not in signature.keywords and ("*" not in signature.keywords or keyword.arg is None):
            raise Refused(f"calls {name}() with {keyword.arg or '**'}", node)
