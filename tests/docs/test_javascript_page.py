"""What docs/javascript.md says of the globals and of the differences between the engines is so."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from paddock.run import Paddock
from tests.docs.pages import ROOT, code, rows

PAGE = ROOT / "docs" / "javascript.md"
GLOBALS = "Object.getOwnPropertyNames(globalThis)"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock() as opened:
        yield opened


def documented() -> set[str]:
    """Every name in the section: the first cell of the table, and the lists below it."""
    section = PAGE.read_text(encoding="utf-8").split("## What a script finds\n")[1].split("```")[0]
    table = [code(row[0]).partition("(")[0] for row in rows(PAGE, "What a script finds")]
    lists = [line for line in section.splitlines() if not line.startswith("|")]
    return {*table, *re.findall(r"`(\w+)`", "\n".join(lists))} - {"quickjs", "node"}


@pytest.mark.asyncio(loop_scope="module")
async def test_the_light_engine_has_the_globals_that_are_listed_and_no_other(paddock: Paddock) -> None:
    result = await paddock.run(GLOBALS, language="javascript", engine="quickjs")
    assert sorted(result.output) == sorted(documented())


@pytest.mark.asyncio(loop_scope="module")
async def test_node_has_them_too(paddock: Paddock) -> None:
    result = await paddock.run(GLOBALS, language="javascript", engine="node")
    assert documented() - set(result.output) == {"InternalError"}


@pytest.mark.parametrize("row", rows(PAGE, "Where the engines differ"), ids=lambda row: code(row[0]))
@pytest.mark.asyncio(loop_scope="module")
async def test_the_engines_differ_as_the_table_says(paddock: Paddock, row: list[str]) -> None:
    found = [
        f"{(await paddock.run(code(row[0]), language='javascript', engine=engine)).output}"
        for engine in ("quickjs", "node")
    ]
    assert found == [code(row[1]), code(row[2])]
