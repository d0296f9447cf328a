"""The full Python engine: CPython with the packages of its environment, in a jail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.engines.jailed import JailedEngine

if TYPE_CHECKING:
    from paddock.config import Config


class CPythonEngine(JailedEngine):
    template = "warm"

    def __init__(self, config: Config) -> None:
        # Known before any run: where none may have a second process, no guest has the calls for it.
        processes = config.caps.processes > 1
        runtime = "paddock.guest.python.main:serve"
        super().__init__(config, config.cpython, runtime, processes=processes, two_templates=True)
