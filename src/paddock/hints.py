"""Hints: for each usual mistake in a script, one sentence that tells the model what to change.

`HINTS` is the whole table, for every engine and tool. A hint looks at the error and at what the host knows about the
run: its inputs, files and tools. It does not parse the source. The first hint that applies is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from paddock.model.events import Finished
from paddock.planning.plan import Plan

MESSAGE_CHARACTERS = 2000
"""Only the beginning of a message is searched, because a script can make it as long as it likes."""
LISTED_NAMES = 10


@dataclass(frozen=True)
class Mistake:
    """An error of a script, and the run in which it happened."""

    finished: Finished
    plan: Plan

    @property
    def type(self) -> str:
        return self.finished.error_type

    @cached_property
    def message(self) -> str:
        return self.finished.error_message[:MESSAGE_CHARACTERS]

    @cached_property
    def source_line(self) -> str:
        """The line of the script that the error is about, if it is known."""
        lines = self.plan.code.splitlines()
        number = self.finished.line or 0
        return lines[number - 1][:MESSAGE_CHARACTERS] if 0 < number <= len(lines) else ""

    @property
    def is_python(self) -> bool:
        return self.plan.language == "python"

    def match(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, self.message)


Hint = Callable[[Mistake], str | None]


def hint_for(finished: Finished, plan: Plan) -> str:
    """The hint for this error, or an empty string."""
    mistake = Mistake(finished, plan)
    return next((text for hint in HINTS if (text := hint(mistake))), "")


def _missing_key(mistake: Mistake) -> str | None:
    if mistake.type != "KeyError" or not mistake.finished.keys:
        return None
    return f"The keys are: {_list(mistake.finished.keys)}."


def _near_name(mistake: Mistake) -> str | None:
    if not mistake.finished.near or mistake.type not in ("NameError", "AttributeError", "ReferenceError"):
        return None
    return f"Did you mean {' or '.join(mistake.finished.near[:2])}?"


HINTS: tuple[Hint, ...] = (_missing_key, _near_name)


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:LISTED_NAMES])
    return shown if len(names) <= LISTED_NAMES else f"{shown} and {len(names) - LISTED_NAMES} more"
