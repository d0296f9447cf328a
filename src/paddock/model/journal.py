"""The journal: the ordered record of a run's tool calls, written before and after each one.

A call that may change something is made only after its intent is stored, so that after a crash the journal names
everything that may have taken effect. Callers remove secrets from what they store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["ok", "error", "cancelled"]


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that is about to be made."""

    run_id: str
    number: int  # position in program order
    tool: str  # full name
    arguments_json: str
    is_read_only: bool
    at: float  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended."""

    run_id: str
    number: int
    status: Status
    milliseconds: float
    answer_json: str  # the value or the error envelope that the script received


class Journal(Protocol):
    """Stores the tool calls of runs."""

    async def intend(self, intent: Intent) -> None:
        """Store `intent`. The call is made when this returns, and not at all if it raises."""
        ...

    async def conclude(self, outcome: Outcome) -> None:
        """Store how a call ended."""
        ...
