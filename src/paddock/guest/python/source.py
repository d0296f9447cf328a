"""Repairs sources that were pasted with markdown fences around them or with all lines indented."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[\w+.#-]*[ \t]*$")
_MARGIN = re.compile(r"[ \t]*")


def repaired(source: str) -> str:
    """The source without fences and common indentation. Each line keeps its number."""
    return _without_margin(_without_fences(source))


def _without_fences(source: str) -> str:
    """Replace the first and the last line with empty lines, if they are fences."""
    lines = source.split("\n")
    used = [number for number, line in enumerate(lines) if line.strip()]
    if not used or not _FENCE.match(lines[used[0]].rstrip("\r")):
        return source
    lines[used[0]] = ""
    if lines[used[-1]].strip() in ("```", "~~~", "````"):
        lines[used[-1]] = ""
    return "\n".join(lines)


def _without_margin(source: str) -> str:
    """Remove the indentation that all lines have, or all but the first, which may have lost it when it was copied."""
    lines = source.split("\n")
    used = [line for line in lines if line.strip()]
    if not used:
        return source
    margin = _common(used)
    if margin:
        return "\n".join(line.removeprefix(margin) for line in lines)
    margin = _common(used[1:])
    if margin and not used[0].rstrip().endswith((":", "\\", "(", "[", "{", ",")):
        return "\n".join(line.removeprefix(margin) for line in lines)
    return source


def _common(lines: list[str]) -> str:
    """The indentation that all of these lines begin with."""
    margins = [match[0] for line in lines if (match := _MARGIN.match(line))]
    first, last = min(margins, default=""), max(margins, default="")
    size = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:size]
