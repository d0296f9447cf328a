"""Hints: for each common mistake in a script, a sentence that tells the model what to change.

`HINTS` is the whole table, for every engine and every tool. The first row that applies gives the hint. A row is chosen
by the type and the message of the error, by the text of its line, and by what the host knows about the run
(`mistake`). The host parses no source: a line is only searched for words. A script chooses both texts, so a pattern
must not take cubic time: repetitions that can match the same characters are possessive or atomic.

To add a row, write it before the more general ones, and add a script to `tests/models/scripts.py` that gets this hint.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from paddock.hints import common, data, javascript, origins, syntax, tables, values
from paddock.hints.mistake import SEARCHED_CHARACTERS, Mistake
from paddock.hints.replacements import JAVASCRIPT, PYTHON
from paddock.hints.row import Hint as Hint
from paddock.model.events import Finished
from paddock.model.result import Verdict
from paddock.planning.plan import Plan

_TOO_LONG = "Process less data in one run, and remove sleeps and loops that may not end."
ROOM = 200
"""Characters of a message and its hint together: with what a tool adds, they stay within 120 tokens."""
HINTS = {
    PYTHON: (*common.FIRST, *tables.ROWS, *syntax.ROWS, *data.ROWS, *values.ROWS, *common.LAST),
    JAVASCRIPT: (*common.FIRST, *javascript.ROWS, *common.LAST),
}


def missing_file(finished: Finished) -> str:
    """The name of the file that the script could not open; empty if it failed otherwise."""
    is_file = finished.verdict is Verdict.RAISED and finished.error_type in common.FILE_TYPES.split("|")
    found = re.search(common.NO_FILE, finished.error_message[:SEARCHED_CHARACTERS]) if is_file else None
    return found["name"] if found else ""


def hint_for(finished: Finished, plan: Plan, packages: Collection[str] = (), calls: int = 0, artifact: str = "") -> str:
    """The hint for this error, or an empty string. `artifact` has the name of the file that the script misses."""
    if finished.verdict not in (Verdict.RAISED, Verdict.REJECTED):
        return _TOO_LONG if finished.verdict is Verdict.TIMEOUT else ""
    mistake = Mistake(finished, plan, tuple(packages), calls, artifact)
    if mistake.is_own:
        return ""
    found = next((text for hint in HINTS[mistake.language] if (text := hint.text_for(mistake))), "")
    found = origins.answered(mistake, found)
    room = ROOM - len(finished.error_message) - len(found)
    if values := mistake.more_values(found, room):
        found = f"{found} Here {values}."  # whatever the mistake is, these are true
    return " ".join(found.split())  # names come from the script
