"""A journal in memory, for tests that read what was journalled."""

from __future__ import annotations

from paddock.model.journal import Intent, Outcome


class MemoryJournal:
    """Keeps every call."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, int], tuple[Intent, Outcome | None]] = {}

    async def intend(self, intent: Intent) -> None:
        self._calls[intent.run_id, intent.number] = (intent, None)

    async def conclude(self, outcome: Outcome) -> None:
        key = (outcome.run_id, outcome.number)
        self._calls[key] = (self._calls[key][0], outcome)

    async def calls(self, run_id: str) -> list[tuple[Intent, Outcome | None]]:
        calls = [call for (run, _), call in self._calls.items() if run == run_id]
        return sorted(calls, key=lambda call: call[0].number)
