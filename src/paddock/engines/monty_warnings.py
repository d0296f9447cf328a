"""Warnings about a script that ran on Monty: calls not awaited, artifacts not created, misread answers of tools."""

from __future__ import annotations

import re
from itertools import islice
from typing import Annotated

import msgspec

from paddock.model.events import Answer

CALL_CHARACTERS = 100
TEXT_CHARACTERS = 300
WARNINGS = 20
VARIABLES = 20
SEARCHED_CHARACTERS = 16 * 1024
NOTES = "[__paddock_unawaited, __paddock_failures]"
"""The variables of the bridge that `from_notes` reads, as JSON."""
_Counts = dict[str, Annotated[int, msgspec.Meta(ge=0, lt=2**31)]]
_NOTES = msgspec.json.Decoder(tuple[_Counts, list[str]])
_ASSIGNED = re.compile(r"^[ \t]*+(\w++)[ \t]*+=[ \t]*+await[ \t]++\w++\(", re.MULTILINE)


def from_notes(text: str) -> tuple[str, ...]:
    """The warnings in the bridge's notes. Raises what msgspec raises: a script can assign anything to them."""
    counts, failures = _NOTES.decode(text)
    unawaited = [(call[:CALL_CHARACTERS], count) for call, count in counts.items() if count > 0]
    return (
        *(
            f"{call} was never awaited, so it had no effect{'' if count == 1 else f' ({count} times)'}: "
            "write `await` before it."
            for call, count in unawaited[:WARNINGS]
        ),
        *(failure[:TEXT_CHARACTERS] for failure in failures[:WARNINGS]),
    )


def is_wrapped(answer: Answer) -> bool:
    """Whether the list or plain value of a tool is under the key `result`."""
    return not answer.failed and answer.json.startswith('{"result": ') and not answer.json.startswith('{"result": {')


def misread_answers(code: str) -> tuple[str, ...]:
    """Warnings for lines that use an answer as its value. Monty has no dict that could notice it while it runs.

    They are certain only for a variable that is assigned once, in a script that never names `result`.
    """
    if "result" in code or len(code) > SEARCHED_CHARACTERS:
        return ()
    lines = code.splitlines()
    found = []
    for name in list(dict.fromkeys(_ASSIGNED.findall(code)))[:VARIABLES]:
        if len(re.findall(rf"^[ \t]*+{name}[ \t]*+=(?!=)", code, re.MULTILINE)) > 1:
            continue
        for word, pattern, text in (
            ("len", rf"\blen\({name}\)", "len(answer) counts its keys"),
            ("for ", rf"\bin {name}(?![\w.\[(])", "iterating over the answer gives its keys"),
        ):
            numbers = (number for number, line in enumerate(lines, 1) if word in line and re.search(pattern, line))
            found += [f'On line {number}, {text}; its value is in answer["result"].' for number in islice(numbers, 1)]
    return tuple(found[:WARNINGS])
