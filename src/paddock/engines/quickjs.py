"""The light JavaScript engine: a fresh context of quickjs-ng in a jailed process of its own for each run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paddock.engines.javascript import JavaScriptEngine
from paddock.engines.node_guests import MB, RUNTIME, node_program
from paddock.engines.typescript import TypeScript
from paddock.jail.jail import Jail

if TYPE_CHECKING:
    from paddock.config import Config

STRIPPER_BYTES = 512 * MB


class QuickJSEngine(JavaScriptEngine):
    """Beside its own guests there is one of Node's, from the first script in TypeScript on."""

    def __init__(self, config: Config) -> None:
        # JavaScript has no word for starting a process: who does it has broken out of the interpreter.
        super().__init__(config, config.quickjs, "paddock.guest.javascript.main:serve", processes=False)
        stripper = replace(config.node, min_waiting=0, max_waiting=0)
        self._stripper = Jail(config, stripper, RUNTIME, node_program(STRIPPER_BYTES))
        self._typescript = TypeScript(self._stripper)

    async def close(self) -> None:
        self._typescript.close()
        await self._stripper.close()
        await super().close()
