"""Every operation of the REST API has an example with curl on its page, and each gives what the page shows."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.docs.pages import ROOT, blocks
from tests.docs.test_examples import answers, dialogue
from tests.rest.conftest import price, serve_rest

PAGE = ROOT / "docs" / "rest.md"


def shown() -> list[tuple[str, str]]:
    return [turn for block in blocks(PAGE) if block.language == "console" for turn in dialogue(block)]


def called(command: str) -> tuple[str, str] | None:
    """The method and the path that a command requests."""
    found = re.search(r"\$PADDOCK_URL(/v1[^\s\"?]*)", command)
    if found is None:
        return None
    method = re.search(r"-X (\w+)", command)
    has_body = "--json" in command or " -F " in command
    return (method[1] if method else "POST" if has_body else "GET"), found[1]


@pytest.mark.asyncio(loop_scope="session")
async def test_every_operation_has_an_example_which_gives_what_is_shown(tmp_path: Path) -> None:
    turns = shown()
    async with serve_rest(tools=[price]) as rest, httpx.AsyncClient() as http:
        document: Any = (await http.get(f"{rest.url}/openapi.json")).json()
        given = await asyncio.to_thread(answers, [command for command, _ in turns], tmp_path, PADDOCK_URL=rest.url)
    wrong = [
        (command, wanted, got)
        for (command, wanted), got in zip(turns, given, strict=True)
        if not re.fullmatch(".*".join(map(re.escape, wanted.rstrip().split("…"))), got.rstrip(), re.DOTALL)
    ]
    assert wrong == []
    requests = [each for each in map(called, (command for command, _ in turns)) if each is not None]
    for path, operations in document["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))
        for method in operations:
            assert any(each == method.upper() and re.fullmatch(pattern, at) for each, at in requests), (method, path)
