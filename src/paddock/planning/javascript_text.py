"""JavaScript without what it only says: texts, comments and regular expressions blanked out, lines kept.

Knows as much of the language as that needs, and is linear in its length. A regular expression is told from a division
by what stands before it; after `)` and `}` it is taken for a division, which is right for nearly all code.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\\n]|\\.)*'?|\"(?:[^\"\\\n]|\\.)*\"?)"
    r"|(?P<tick>`)|(?P<open>[{(\[])|(?P<close>[})\]])|(?P<slash>/)"
    r"|(?P<word>[\w$]+)|(?P<space>\s+)|(?P<sign>.)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\])++/\w*+")
REGEX_CHARACTERS = 1000
"""A longer one is taken for a division: each slash may begin one, and is looked after no further than this."""
_TEMPLATE = re.compile(r"(?:[^`\\$]++|\\.|\$(?!\{))*+", re.DOTALL)
_BEFORE_REGEX = frozenset(
    ("return", "typeof", "case", "in", "of", "delete", "void", "new", "do", "else", "throw", "await", "yield")
)


def bare(code: str) -> str:
    """`code` with spaces in the place of what it only says."""
    parts: list[str] = []
    brackets: list[str] = []  # "${" where the text of a template goes on after it
    at, before = 0, ""
    while at < len(code):
        token = _TOKEN.match(code, at)
        if token is None:
            break
        kind, text = token.lastgroup, token[0]
        if kind == "slash" and _begins_regex(before) and (regex := _REGEX.match(code, at, at + REGEX_CHARACTERS)):
            kind, text = "text", regex[0]
        if kind == "tick":
            text = _template(code, at, brackets)
            kind = "text"
        elif kind == "open":
            brackets.append(text)
        elif kind == "close" and brackets and brackets.pop() == "${":
            text, kind = _template(code, at, brackets), "text"
        at += len(text)
        parts.append(_blank(text) if kind in ("text", "comment") else text)
        if kind not in ("space", "comment"):
            before = "text" if kind == "text" else text
    return "".join(parts)


def _template(code: str, at: int, brackets: list[str]) -> str:
    """From a backtick, or from the end of an expression within, to the next expression or the template's end."""
    inner = _TEMPLATE.match(code, at + 1)
    end = at + 1 if inner is None else inner.end()
    if code.startswith("${", end):
        brackets.append("${")
        return code[at : end + 2]
    return code[at : end + 1]


def _begins_regex(before: str) -> bool:
    """Whether a slash after this token can only begin a regular expression."""
    return before in _BEFORE_REGEX or not before or before[-1] in "=(,:;!&|?{[+-*%<>~^"


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
