"""Whether a script may use a tool as a function. Where it does not, only the servers that it names need be there."""

from __future__ import annotations

import re
from collections.abc import Collection

_CALLED = re.compile(r"(?<![\w$.])[^\W\d][\w$]*+(?=\()")  # possessive: linear on any text
_DEFINED = re.compile(r"\b(?:def|class|function|const|let|var)\s++([^\W\d][\w$]*+)")


def may_link(code: str, language: str, known: Collection[str]) -> bool:
    """Whether `code` has a name that it did not make and that is not `known`. Where that is not plain, it may."""
    from paddock.planning.python_source import LONG_PARSE_BYTES

    if len(code) > LONG_PARSE_BYTES:
        return True
    free = _free_in_python(code) if language == "python" else _free_in_javascript(code)
    return free is None or bool(free.difference(known))


def _free_in_python(code: str) -> frozenset[str] | None:
    from paddock.planning.free_names import free_names
    from paddock.planning.plan import BRIDGE_NAMES
    from paddock.planning.python_source import Source, read

    source = read(code)
    if not isinstance(source, Source):
        return None
    if "free names" not in source.notes:  # looked for by every run as long as one server is not there
        source.notes["free names"] = free_names(source.tree)
    free: frozenset[str] | None = source.notes["free names"]
    return None if free is None else free.difference(BRIDGE_NAMES, ["files"])


def _free_in_javascript(code: str) -> frozenset[str]:
    from paddock.planning.plan import BRIDGE_NAMES_OF_JAVASCRIPT
    from paddock.tools.identifiers import taken

    called = frozenset(_CALLED.findall(code)).difference(_DEFINED.findall(code))
    return called.difference(taken("javascript"), BRIDGE_NAMES_OF_JAVASCRIPT, ["files"])
