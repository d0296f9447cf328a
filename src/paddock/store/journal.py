"""A journal in the host's memory, for as long as the Paddock that keeps it."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from dataclasses import replace

from paddock.model.journal import Intent, Outcome

TOTAL_CALLS = 10_000
TOTAL_CHARACTERS = 64 * 1024 * 1024
ANSWERS = 16
"""Kept of each tool, to learn from."""
ANSWER_CHARACTERS = 64 * 1024
"""A longer answer is not kept."""


class MemoryJournal:
    """Keeps the newest calls, up to a total; the oldest go first. May be used from several threads."""

    def __init__(self, total_calls: int = TOTAL_CALLS, total_characters: int = TOTAL_CHARACTERS) -> None:
        self._total_calls, self._total_characters = total_calls, total_characters
        self._calls: dict[tuple[str, int], tuple[Intent, Outcome | None]] = {}  # the oldest first
        self._characters = 0
        self._answers: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=ANSWERS))
        self._lock = threading.Lock()

    async def intend(self, intent: Intent) -> None:
        with self._lock:
            self._put(intent, None)

    async def conclude(self, outcome: Outcome) -> None:
        with self._lock:
            known = self._calls.get((outcome.run_id, outcome.number))
            if known is None:
                return
            is_short = len(outcome.answer_json) <= ANSWER_CHARACTERS
            self._put(known[0], outcome if is_short else replace(outcome, answer_json=""))
            if outcome.status == "ok" and is_short and outcome.answer_json:
                self._answers[known[0].tool].appendleft(outcome.answer_json)

    async def calls(self, run_id: str) -> list[tuple[Intent, Outcome | None]]:
        with self._lock:
            found = [call for (run, _), call in self._calls.items() if run == run_id]
        return sorted(found, key=lambda call: call[0].number)

    async def answers(self, tool: str, limit: int) -> list[str]:
        with self._lock:
            return list(self._answers.get(tool, ()))[:limit]

    def _put(self, intent: Intent, outcome: Outcome | None) -> None:
        key = (intent.run_id, intent.number)
        self._characters += _characters(intent, outcome) - _characters(*self._calls.get(key, (None, None)))
        self._calls[key] = (intent, outcome)
        while len(self._calls) > self._total_calls or self._characters > self._total_characters:
            self._characters -= _characters(*self._calls.pop(next(iter(self._calls))))


def _characters(intent: Intent | None, outcome: Outcome | None) -> int:
    return (len(intent.arguments_json) if intent else 0) + (len(outcome.answer_json) if outcome else 0)
