"""Scripts on CPython, on the engine that `auto` picks, and on the light engine come what may."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from paddock.engines.monty_errors import NOT_CPYTHONS_OWN
from paddock.model.result import RunResult
from paddock.run import Paddock
from tests.bare import BARE
from tests.differential.corpus import Script
from tests.differential.reference import Outcome, Reference, of_result

AT_ONCE = 4


@dataclass(frozen=True)
class Measured:
    """One script, on CPython, on the engine of `auto`'s choice, and on the light engine come what may."""

    script: Script
    reference: Outcome
    auto: RunResult
    light: RunResult

    def is_light(self) -> bool:
        return self.auto.engine == "monty"

    def behaves_the_same(self) -> bool:
        return self.reference == of_result(self.light) and self.light.engine_reason != NOT_CPYTHONS_OWN


async def measure(scripts: Iterable[Script]) -> list[Measured]:
    turns = asyncio.Semaphore(AT_ONCE)
    with Reference() as one, Reference() as other, ThreadPoolExecutor(2) as threads:
        loop = asyncio.get_running_loop()

        async def ask(number: int, script: Script, paddock: Paddock) -> Measured:
            async with turns:
                reference = loop.run_in_executor(threads, (one, other)[number % 2].ask, script.source)
                auto = await paddock.run(script.source)
                is_light = auto.engine == "monty"
                light = auto if is_light else await paddock.run(script.source, engine="monty")
                return Measured(script, await reference, auto, light)

        async with Paddock(BARE) as paddock:
            return await asyncio.gather(*(ask(number, script, paddock) for number, script in enumerate(scripts)))
