"""Where a variable of the failing line got its value: the lines before it are searched for words."""

from __future__ import annotations

import re

from paddock.hints.mistake import Mistake
from paddock.hints.replacements import PYTHON

SEARCHED_LINES, SEARCHED_CHARACTERS = 100, 200
_ASKED = re.compile(r"(?:its spelling and )?(what (?:sets|gives|gave) it)\b")
_FRAME = re.compile(r'main\.(?:py"?, line |m?js:)(\d+)')
_WHY = {  # what an expression that gave None, null or undefined proves
    r"\.find(?:Last)?\(": "`find` found no item",
    r"\.get\(": "no such key",
    r"\.(?:pop|shift|at)\(": "it was empty",
    r"\.(?:match|exec|search|fullmatch)\(": "the pattern does not match",
}
_SET = r"(?:\s?:[^=]{{1,40}}+)?\s?=(?![=>])\s?(?P<given>.+)|{name}\b[^=()]{{0,60}}+=(?![=>])\s?(?P<unpacked>.+)"
_LOOP = r"\bfor (?:await )?\(?[^)]{{0,60}}{name}\b[^)]{{0,60}}? (?:in|of) (?P<items>.+)"
_PARAMETER = (
    r"\b(?:def|function)\b[^(]{{0,60}}\([^)]{{0,120}}{name}\b|{name}\s?=>|\([^()]{{0,120}}{name}\b[^()]{{0,120}}\)\s?=>|"
    r"^\s*(?:async )?(?!if|for|while|switch|catch)[\w$]{{1,60}}\([^)]{{0,120}}{name}\b[^)]{{0,120}}\) ?\{{"
)


def answered(mistake: Mistake, hint: str) -> str:
    """The hint; if it tells the reader to check what gave a value, with the line that did."""
    if not _ASKED.search(hint):
        return hint
    place = _place(mistake, _subject(mistake, hint), re.search(r" is (?:None|null|undefined)\b", hint) is not None)
    if ": " in place:  # it is known why
        hint = hint.replace(" if it may be absent", "")
    return _ASKED.sub(lambda found: f"{found[1]} ({place})", hint, count=1) if place else hint


def _subject(mistake: Mistake, hint: str) -> str:
    """The variable that the hint is about."""
    named = re.match(r"`([A-Za-z_$][\w$]*)", hint)
    return named[1] if named else next((re.split(r"\W", name)[0] for name in mistake.values), "")


def _place(mistake: Mistake, name: str, is_nothing: bool) -> str:
    if not name or name in ("this", "self"):
        return ""
    lines = mistake.code.splitlines()[: (mistake.finished.line or 1) - 1]
    word = rf"(?<![\w$.]){re.escape(name)}"
    patterns = [re.compile(text.format(name=word)) for text in (_PARAMETER, _LOOP, rf"{word}{_SET}")]
    for number in range(len(lines), max(0, len(lines) - SEARCHED_LINES), -1):
        line = lines[number - 1][:SEARCHED_CHARACTERS]
        found = next(filter(None, (pattern.search(line) for pattern in patterns)), None) if name in line else None
        if found is None:
            continue
        if found.re is patterns[0]:
            call = caller(mistake)
            return f"the call on line {call}" if call and call != mistake.finished.line else ""
        if found.re is patterns[1]:
            return f"the loop on line {number}"
        return f"line {number}{_why(mistake, found['given'] or '') if is_nothing else ''}"
    return ""


def _why(mistake: Mistake, given: str) -> str:
    why = next((text for pattern, text in _WHY.items() if re.search(pattern, given)), "")
    called = re.match(r"(?:await )?([\w$]+)\(", given)
    if called and re.search(rf"\b(?:def|function\*?) {re.escape(called[1])}\b", mistake.code):
        why = f"`{called[1]}` returned nothing" if mistake.language == PYTHON else f"`{called[1]}` gave undefined"
    return f": {why}" if why else ""


def caller(mistake: Mistake) -> int:
    """The line that called the function of the failing line; 0 if it is not known."""
    numbers = [int(number) for number in _FRAME.findall(mistake.finished.traceback[-4000:])]
    innermost = numbers[::-1] if mistake.language == PYTHON else numbers
    return innermost[1] if len(innermost) > 1 else 0
