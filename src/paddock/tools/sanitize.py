"""Makes text that an upstream wrote safe to show on a terminal and in Markdown. Its content is not checked."""

from __future__ import annotations

import re

LINE_CHARACTERS = 300
TEXT_CHARACTERS = 2000
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|(?<=[。！？])")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])\(")
_FENCE = re.compile("`{3,}")


def one_line(text: object, limit: int = LINE_CHARACTERS) -> str:
    """`text` as one line of at most `limit` printable characters."""
    if not isinstance(text, str):
        return ""
    # Only the beginning of a long text is examined.
    start = _ESCAPE.sub("", text[: 4 * limit])
    shown = "".join(character for character in _BLANK.sub(" ", start) if character.isprintable()).strip()
    return shown if len(shown) <= limit and len(text) <= 4 * limit else _cut(shown, limit)


def lines(text: object, limit: int = TEXT_CHARACTERS) -> list[str]:
    """The lines of `text`, about `limit` characters in total, without blank lines at either end or two in a row."""
    if not isinstance(text, str):
        return []
    start = _ESCAPE.sub("", text[: 2 * limit])
    shown: list[str] = []
    left = limit
    for line in start.splitlines():
        kept = one_line(line, limit)
        if not kept and (not shown or not shown[-1]):
            continue
        if len(kept) > left:
            shown.append(_cut(kept, left))
            return shown
        shown.append(kept)
        left -= len(kept) + 1
    if len(text) > 2 * limit:
        shown.append("…")
    while shown and not shown[-1]:
        shown.pop()
    return shown


def first_sentence(text: object) -> str:
    """The first sentence of `text`, on one line, at most 160 characters."""
    for line in lines(text):
        if line:
            return one_line(_SENTENCE.split(line, maxsplit=1)[0], 160)
    return ""


def inline(text: str) -> str:
    """A line of text escaped for Markdown: links, images and HTML in it show as text."""
    return _MARKUP.sub(lambda match: f"\\{match[0]}", text)


def fenced(text: str, language: str = "") -> str:
    """`text` as a Markdown code block, with a fence longer than any in `text`."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _cut(text: str, limit: int) -> str:
    return f"{text[: max(limit - 1, 0)].rstrip()}…"
