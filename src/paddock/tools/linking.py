"""Whether a script may use a tool as a function. Where it does not, only the servers that it names must be there."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from paddock.planning.plan import BRIDGE_NAMES, BRIDGE_NAMES_OF_JAVASCRIPT
from paddock.tools.identifiers import taken

if TYPE_CHECKING:
    from paddock.model.outline import Outline

_CALLED = re.compile(r"(?<![\w$.])[^\W\d][\w$]*+(?=\()")  # possessive: linear on any text
_DEFINED = re.compile(r"\b(?:def|class|function|const|let|var)\s++([^\W\d][\w$]*+)")


def may_link(code: str, language: str, known: Collection[str], outline: Outline | None) -> bool:
    """Whether `code` uses a name that it does not define and that is not `known`.

    A guest's outline says so exactly. Without one, words that are called like functions are taken as used names.
    """
    if outline is not None:
        used = outline.unbound
        return used is None or not set(used) <= {*known, *BRIDGE_NAMES}
    given = (
        (*BRIDGE_NAMES, *dir(builtins)) if language == "python" else (*BRIDGE_NAMES_OF_JAVASCRIPT, *taken("javascript"))
    )
    return bool({*_CALLED.findall(code)}.difference(known, given, _DEFINED.findall(code)))
