"""The light JavaScript engine: quickjs-ng in a jailed process, with a fresh context for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.engines.jailed import JailedEngine

if TYPE_CHECKING:
    from paddock.config import Config


class QuickJSEngine(JailedEngine):
    """Runs scripts that need only ECMAScript and Paddock's functions."""

    def __init__(self, config: Config) -> None:
        # JavaScript alone cannot start a process: a script that does has broken out of the interpreter.
        super().__init__(config, config.quickjs, "paddock.guest.javascript.main:serve", processes=False)
