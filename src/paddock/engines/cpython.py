"""The full Python engine: CPython with the packages of its environment, in a jail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from paddock.engines.jailed import JailedEngine, JailedExecution
from paddock.planning.plan import Plan

if TYPE_CHECKING:
    from paddock.config import Config


class CPythonEngine(JailedEngine):
    """Guests come from two templates: warm ones have the environment's preloads imported, bare ones do not."""

    def __init__(self, config: Config) -> None:
        # If no run may have a second process, the seccomp filter forbids guests to start one.
        processes = config.caps.processes > 1
        runtime = "paddock.guest.python.main:serve"
        super().__init__(config, config.cpython, runtime, processes=processes, two_templates=True)

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        # A name in a comment or string selects a warm guest too. That costs only a few milliseconds.
        is_warm = any(module in plan.code for module in await self._jail.warm_modules())
        async with self._guest(self._jail, "warm" if is_warm else "bare") as guest:
            yield JailedExecution(guest, plan)
