"""Programs that `auto` gives to the light engine, there and on CPython."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddock.engines.monty_errors import NOT_CPYTHONS_OWN
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.differential.reference import Outcome, of_result


class Bench:
    """Both sides, ready to run programs, and how many of them were run. `ask` is CPython; None: it took too long."""

    def __init__(self, paddock: Paddock, ask: Callable[[str], Outcome | None], **limits: Any) -> None:
        self._paddock, self._ask, self._limits = paddock, ask, limits
        self.programs = self.light = self.unsure = self.slow = 0

    def difference(self, code: str) -> str:
        """How `code` ends differently on the engine that `auto` picks; empty where it does not, or takes too long."""
        self.programs += 1
        result = self._paddock.run_sync(code, limits=self._limits)
        if result.engine != "monty":
            return ""
        self.light += 1
        theirs, ours = self._ask(code), of_result(result)
        if theirs is None or result.verdict is Verdict.TIMEOUT:
            self.slow += 1
            return ""
        if result.engine_reason == NOT_CPYTHONS_OWN:
            self.unsure += 1
            theirs, ours = _but_for_the_words(theirs), _but_for_the_words(ours)
        return theirs.difference(ours)


def _but_for_the_words(outcome: Outcome) -> Outcome:
    kind = outcome.error.type if outcome.error is not None else "no error"
    return Outcome(outcome.value, outcome.stdout, outcome.stderr + kind, None)
