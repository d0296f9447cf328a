"""Calls of `re`, which must name their pattern where it can be read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import patterns, results, signatures, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import STR, Kinds

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def call(a: Analysis, node: ast.Call, function: str, signature: signatures.Signature) -> Kinds:
    """`re.function(…)`."""
    if function == "escape":
        return STR
    _check_pattern(a, node, function, node.args[0], node.args[1] if function == "sub" else None)
    for keyword in node.keywords:
        _check_flags(a, keyword.value if keyword.arg == "flags" else None, node)
    subject = {"compile": None, "sub": 2}.get(function, 1)
    if subject is not None and not a.value(node.args[subject]) <= {"str", "any"}:
        raise Refused("searches something that may not be text", node)
    position = {"compile": 1, "sub": 4}.get(function, 2)
    if len(node.args) > position and function != "split":
        _check_flags(a, node.args[position], node)
    return results.plain(a, node, signature.result)


def _check_flags(a: Analysis, flags: ast.expr | None, node: ast.Call) -> None:
    if flags is None:
        return
    for inner in ast.walk(flags):
        if isinstance(inner, ast.Attribute) and inner.attr in ("IGNORECASE", "I") and texts.CASE in a.facts.odd_text:
            raise Refused(f"searches whatever the case beside {a.facts.odd_text[texts.CASE]}", node)
        if isinstance(inner, ast.Attribute) and inner.attr not in ("IGNORECASE", "I", "DOTALL", "S", "MULTILINE", "M"):
            raise Refused(f"uses re.{inner.attr}", node)
        if isinstance(inner, ast.Constant | ast.Call):
            raise Refused("uses flags that are not names", node)


def _check_pattern(a: Analysis, node: ast.Call, function: str, pattern: ast.expr, replacement: ast.expr | None) -> None:
    text = a.literal(pattern)
    if text is None:
        if a.value(pattern) <= {"re.Pattern"}:
            check_compiled(a, node, replacement)
            return
        raise Refused("uses a regular expression that is not a literal", node)
    new = None
    if replacement is not None:
        new = a.literal(replacement)
        if new is None:
            raise Refused("replaces by something that is not a literal", node)
    odd = sorted(a.facts.odd_text[asked] for asked in texts.asked_of(text) if asked in a.facts.odd_text)
    if odd:
        raise Refused(f"searches for kinds of character beside {odd[0]}", node)
    trouble = patterns.problem(
        text, "findall" if function == "compile" else function, new, ends=id(pattern) in a.facts.mended_patterns
    )
    if trouble is not None:
        raise Refused(trouble, node)


def check_compiled(a: Analysis, node: ast.Call, replacement: ast.expr | None) -> None:
    """Refuse what replaces the matches of a compiled pattern, unless it is plain text."""
    if replacement is None:
        return
    new = a.literal(replacement)
    if new is None or "\\" in new:
        raise Refused("replaces by something that is not a plain literal", node)
