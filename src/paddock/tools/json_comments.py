"""JSON as editors write their settings: with comments and trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)


def loads(text: str) -> Any:
    """The value that `text` is. Raises ValueError, with the line as the author counts it."""
    return json.loads(_without(_COMMA, _without(_COMMENT, text.removeprefix("\ufeff"))))


def _without(pattern: re.Pattern[str], text: str) -> str:
    """`text` with blanks in place of whatever matches and is not a string; lines and columns stay."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return pattern.sub(blank, text)
