"""The static type check of Python scripts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from paddock.engines.monty import MontyEngine
from paddock.model.events import Finished
from paddock.model.outline import Outline
from paddock.planning.plan import Plan

if TYPE_CHECKING:
    from paddock.config import Config


class TypeChecker:
    def __init__(self, config: Config) -> None:
        self._engine = MontyEngine(config)

    async def check(
        self, plan: Plan, outline: Outline | None, stubs: Callable[[Collection[str]], str] | None
    ) -> Finished | None:
        return await self._engine.check_types(plan, stubs)

    async def close(self) -> None:
        await self._engine.close()
