"""The light JavaScript engine: a fresh context of quickjs-ng in a jailed process of its own for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.engines.jailed import JailedEngine

if TYPE_CHECKING:
    from paddock.config import Config


class QuickJSEngine(JailedEngine):
    def __init__(self, config: Config) -> None:
        super().__init__(config, config.quickjs, "paddock.guest.javascript.main:serve")
