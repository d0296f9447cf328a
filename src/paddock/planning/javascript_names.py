"""The names that a script in JavaScript or TypeScript uses without having made them: its tools' are among them.

Knows as much of the language as that needs, and is linear in the script's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<number>\d[\w.]*)|(?P<name>[\w$]+)"
    r"|(?P<sign>=>|={2,3}|\.{3}|\?\.|\+\+|--|.)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_BEFORE_REGEX = frozenset((*"(,=:[&|?{;+-*%<>~^", "=>", "==", "==="))
_WORDS_BEFORE_REGEX = frozenset(("return", "typeof", "case", "in", "void", "else", "throw", "await", "yield"))
_CONTROLLED = frozenset(("if", "while", "for", "with"))
_DECLARING = frozenset(("let", "const", "var", "function", "class"))
_TYPE_DECLARING = frozenset(("interface", "type", "enum", "namespace"))
_PATTERN_BEFORE = frozenset((*"([{,:", "..."))
_PATTERN_AFTER = frozenset(")]},=:?")
_AT_TIMES = frozenset(
    (*("of", "as", "type", "interface", "enum", "namespace"), *("string", "number", "boolean", "any", "unknown"))
)
"""Words of the language where they stand so; names of tools where they are called."""
_BY_TEXT = frozenset(("eval", "Function", "globalThis", "global", "window", "self", "with", "import", "require"))
"""With these a script may reach any name by its text."""
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class _Unclear(Exception):
    """What a token is depends on more than is known here."""


@dataclass(slots=True)
class _Group:
    """What stands between two brackets."""

    opened: str
    made: str = ""  # "names": it declares those in it; "perhaps": where the group around it does
    names: set[str] = field(default_factory=set)


def free_names(code: str) -> frozenset[str] | None:
    """Rather too many than too few; None where any name may be used."""
    try:
        tokens = list(_tokens(code))
    except _Unclear:
        return None
    used, called, own, inner = _sorted(["", *tokens, "", ""])
    if used & _BY_TEXT:
        return None
    return frozenset(used - own - (inner - called))


def _sorted(tokens: list[str]) -> tuple[set[str], set[str], set[str], set[str]]:
    """The names that are used, those of them that are called, those made for the whole script, and within it."""
    used: set[str] = set()
    called: set[str] = set()
    own: set[str] = set()
    inner = set(_AT_TIMES)
    groups: list[_Group] = []
    for at in range(1, len(tokens) - 2):
        before, token, after = tokens[at - 1 : at + 2]
        if token in _OPEN:
            groups.append(_opened(token, tokens[at - 2 : at] if at > 1 else ["", before], groups))
        elif token in _CLOSE and groups:
            group = groups.pop()
            if group.made == "names" or (group.opened == "(" and after == "=>"):
                (inner if groups or group.opened == "(" else own).update(group.names)
            elif group.made == "perhaps" and groups:
                less, more = sorted((groups[-1].names, group.names), key=len)  # the larger set is never copied
                more |= less
                groups[-1].names = more
        elif _is_name(token) and before not in (".", "?.", "#"):
            if _declares(before, tokens[at - 2] if at > 1 else "", after):
                (inner if groups else own).add(token)
                continue
            if after == "=>" or (after == "=" and before not in (":", "=")):
                inner.add(token)
            if groups and groups[-1].opened == "{" and after == ":" and before in ("{", ","):
                continue  # a key
            if groups and before in _PATTERN_BEFORE and after in _PATTERN_AFTER:
                groups[-1].names.add(token)
            if after != "=" or before == "=":
                used.add(token)
            if after in ("(", "?.", "`"):
                called.add(token)
    return used, called, own, inner


def _opened(bracket: str, before: list[str], groups: list[_Group]) -> _Group:
    """A group, by the two tokens before it."""
    if bracket == "(":
        is_made = "function" in before or (before[1] == "catch" and before[0] not in (".", "?."))
        return _Group(bracket, "names" if is_made else "")
    if before[1] in ("let", "const", "var"):
        return _Group(bracket, "names")
    return _Group(bracket, "perhaps" if groups and before[1] in _PATTERN_BEFORE else "")


def _declares(before: str, earlier: str, after: str) -> bool:
    if before in _TYPE_DECLARING:
        return after in ("=", "{", "<", "extends")
    return before in _DECLARING or (before == "*" and earlier == "function")


def _is_name(token: str) -> bool:
    return token[:1].isidentifier() or token[:1] == "$"


def _tokens(code: str) -> Iterator[str]:
    """Names and signs; a text, a number or a regular expression is a quote."""
    at, before = 0, ""
    templates: list[int] = []  # brackets open where the text of each goes on
    brackets: list[str] = []  # what stood before each round one
    depth, was_control = 0, False
    while at < len(code):
        token = _TOKEN.match(code, at)
        if token is None:
            raise _Unclear
        kind, text = token.lastgroup, token[0]
        if kind == "space":
            at += len(text)
            continue
        if text in ("`", "}") and (text == "`" or (templates and templates[-1] == depth)):
            text = _template(code, at)
            if code[at] == "}":
                templates.pop()
            if text[-1] == "{":
                templates.append(depth)
            kind = "`"
        elif text == "/":
            if before in _BEFORE_REGEX or before in _WORDS_BEFORE_REGEX or not before:
                text, kind = _regex(code, at), "text"
            elif before == "}" or not (before == "]" or _is_name(before) or before in ("'", ")")) or was_control:
                raise _Unclear
        elif text in ("'", '"', "\\", "@"):
            raise _Unclear
        if text == "(":
            brackets.append(before)
        was_control = text == ")" and bool(brackets) and brackets.pop() in _CONTROLLED
        depth += (text == "{") - (text == "}")
        at += len(text)
        before = (
            "'" if kind in ("text", "number") else text if kind != "`" else "`" if code[at - len(text)] == "`" else "'"
        )
        yield before
        if kind == "`" and text[-1] == "{":
            before = ","  # an expression begins
            yield before


def _template(code: str, at: int) -> str:
    """From a backtick, or from the end of an expression within, to the next expression or the template's end."""
    found = _TEMPLATE.match(code, at + 1)
    if found is None:
        raise _Unclear
    return code[at : found.end()]


def _regex(code: str, at: int) -> str:
    found = _REGEX.match(code, at)
    if found is None:
        raise _Unclear
    return found[0]
