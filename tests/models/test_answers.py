"""What a model reads after a mistake: the line, the cause and the fix, in at most 120 tokens."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from paddock.hints import HINTS, Hint
from paddock.hints.mistake import Mistake
from paddock.server.services import Services
from tests.models.all_cases import ALL
from tests.models.answers import answer, hint_of, open_server, problems
from tests.models.cases import CASES, Case
from tests.models.scripts import SCRIPTS
from tests.server.conftest import _stored_apart

__all__ = ["_stored_apart"]
pytestmark = pytest.mark.asyncio(loop_scope="module")
ROWS = list(dict.fromkeys(row for rows in HINTS.values() for row in rows))
REPAIRS = {name: case for name, case in CASES.items() if case.repaired is not None}


@dataclass
class Server:
    """Answers each case once, and notes the rows of the table that give a hint to one."""

    services: Services
    chosen: set[Hint] = field(default_factory=set)
    answers: dict[int, tuple[bool, str]] = field(default_factory=dict)

    async def answer(self, case: Case) -> tuple[bool, str]:
        if id(case) not in self.answers:
            self.answers[id(case)] = await answer(self.services, case)
        return self.answers[id(case)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    async with open_server() as services:
        made = Server(services)

        def text_for(row: Hint, mistake: Mistake, original: Any = Hint.text_for) -> str | None:
            text: str | None = original(row, mistake)
            if text:
                made.chosen.add(row)
            return text

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Hint, "text_for", text_for)
            yield made


@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
async def test_an_answer_names_line_cause_and_fix(server: Server, case: Case) -> None:
    succeeded, text = await server.answer(case)
    assert problems(case, succeeded, text) == [], text


@pytest.mark.parametrize("case", REPAIRS.values(), ids=REPAIRS)
async def test_a_script_works_after_just_what_its_hint_says(server: Server, case: Case) -> None:
    _, text = await server.answer(case)
    repaired = apply(hint_of(text), case)
    assert repaired == case.repaired, text
    succeeded, text = await answer(server.services, case, repaired)
    assert succeeded, text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chosen(server: Server) -> set[Hint]:
    """The rows of the table that give a hint to some script."""
    for case in (*ALL.values(), *SCRIPTS):
        await server.answer(case)
    return server.chosen


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.types} {row.message[:30]}")
async def test_a_row_of_the_table_gives_a_hint_to_some_script(chosen: set[Hint], row: Hint) -> None:
    assert row in chosen, "add a script for it to tests/models/scripts.py"


def apply(hint: str, case: Case) -> str:
    """The script after following the hint to the letter."""
    lines = case.code.split("\n")
    place = (case.line or 1) - 1
    if added := re.search(r"Add `(.*?)`", hint):
        return "\n".join([added[1], *lines])
    word = re.escape((case.cause or "").strip("'"))
    if better := re.search(r"Did you mean [`'](.*?)['`]\?|In (?:Python|JavaScript) it is `(\w+[.\w]*)", hint):
        replaced = re.sub(rf"(?<!\w){word}(\.log)?(?!\w)", better[1] or better[2], lines[place])
        everywhere = [re.sub(rf"(?<!\w){word}(?!\w)", better[1] or better[2], line) for line in lines]
        return "\n".join(everywhere if replaced in everywhere else [*lines[:place], replaced, *lines[place + 1 :]])
    if path := re.search(r"`(/files/.*?)`", hint):
        lines[place] = re.sub(rf"'[^']*{word}'", f"'{path[1]}'", lines[place])
    elif "key `result`" in hint or "use `a['result']`" in hint:
        lines[place] = lines[place].replace("in a]", "in a['result']]").replace("a.map", "a.result.map")
    elif "`await` before" in hint:
        lines = [re.sub(r"= (call_tool|callTool)\(", r"= await \1(", line) for line in lines]
    elif written := re.search(r"^Write `(self\.\w+)`", hint):
        lines[place] = re.sub(rf"\b{word}\b", written[1], lines[place])
    elif "remove the line" in hint:
        del lines[place]
    elif "with `let`" in hint:
        lines = [line.replace("const ", "let ") for line in lines]
    elif "remove the types" in hint:
        lines[place] = re.sub(r": (string|number)", "", lines[place])
    return "\n".join(lines)
