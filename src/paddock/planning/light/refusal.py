"""The one way in which the analysis ends early."""

from __future__ import annotations

import ast


class Refused(Exception):
    """The script does not fit; says what, and where."""

    def __init__(self, what: str, node: ast.AST | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = getattr(node, "lineno", None)
