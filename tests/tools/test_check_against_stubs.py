"""The static check of a script against the stubs of its tools: what is certainly wrong stops it, nothing else does."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from paddock.config import Config
from paddock.engines.type_checker import TypeChecker
from paddock.guest.python.outline import describe
from paddock.model.events import Finished, Outline
from paddock.model.request import Request
from paddock.model.tools import Tool
from paddock.planning.plan import make_plan
from paddock.tools.stubs import module
from tests.tools.samples import CANCEL, ORDERS, PING

pytestmark = pytest.mark.asyncio(loop_scope="module")
STOCK = Tool(
    "shop",
    "stock",
    output_schema={"type": "object", "properties": {"lamp": {"type": "integer"}}, "additionalProperties": True},
)
TOOLS = [ORDERS, CANCEL, PING, STOCK]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def checker() -> AsyncIterator[TypeChecker]:
    checker = TypeChecker(Config())
    yield checker
    await checker.close()


async def checked(checker: TypeChecker, code: str, **inputs: Any) -> Finished | None:
    names = ["orders", "cancel_order", "ping", "stock"]
    plan = make_plan(Request(code, inputs=inputs), Config(), engines=["monty", "cpython"], tools=names)
    assert plan.refusal is None, plan.refusal
    outline = msgspec.convert(describe(ast.parse(code)), Outline)
    return await checker.check(plan, outline, lambda rebound: module(TOOLS, rebound=rebound))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (1, "await orders(**{'status': 'open'})"),
        (1, "await orders(status='open')"),
        (1, "await orders('open')"),
        (1, "await orders(['open'])"),
        (1, "await orders()"),
        (1, "await orders({'limit': 5})"),
        (1, "await orders({'status': 'opn'})"),
        (1, "await orders({'status': 'open', 'limit': 'ten'})"),
        (1, "orders({'status': 'open'})\nreturn 1"),
        (1, "call_tool('shop.orders', {'status': 'open'})"),
        (2, "found = orders({'status': 'open'})\nreturn found['rows']"),
        (2, "found = orders({'status': 'open'})\nfor row in found:\n    print(row)"),
        (2, "found = await orders({'status': 'open'})\nreturn found['rowz']"),
        (2, "found = await orders({'status': 'open'})\nreturn [row['nr'] for row in found['rows']]"),
        (2, "found = await orders({'status': 'open'})\nreturn found.rows"),
        (3, "import asyncio\na, b = await asyncio.gather(ping(), orders({'status': 'open'}))\nprint(b['rowz'])"),
    ],
)
async def test_a_certain_error_is_refused_with_its_line(checker: TypeChecker, line: int, code: str) -> None:
    found = await checked(checker, code)
    assert found is not None
    assert (found.error_type, found.line) == ("TypingError", line)


@pytest.mark.parametrize(
    "code",
    [
        "return (await orders({'status': 'open'}))['rows'][0]['id'] + 1",
        "payload = {'status': 'open'}\nawait orders(payload)",
        "payload = {}\npayload['status'] = 'open'\nawait orders(payload)",
        "payload: dict = {'status': 'open'}\nawait orders({**payload, 'limit': 5})",
        "for status in given:\n    await orders({'status': status})",
        "await orders({'status': name})",
        "orders = await orders({'status': 'open'})\nreturn orders['rows']",
        "found = await orders({'status': 'open'})\nfound['mine'] = 1\nreturn found['mine']",
        "found = await orders({'status': 'open'})\nreturn found['next'] + 'x'",
        "found = await orders({'status': 'open'})\nreturn found.get('next').upper()",
        "found: dict = await orders({'status': 'open'})\nreturn found",
        "def total(found: dict) -> int:\n    return len(found)\nreturn total(await orders({'status': 'open'}))",
        "import pandas\nfrom no_such_module import thing\nreturn thing(await ping())",
        "return (await ping())['whatever']['it']['is']",
        "return (await stock())['other']['thing']",
        "return (await call_tool('no.such', {'a': 1}))['x']",
        "try:\n    found = await orders({'status': 'open'})\nexcept RuntimeError as error:\n    found = str(error)",
        "files = [1]\nreturn files[0] + 1",
        "if name:\n    return\nreturn 5",
        "assert (1, 'always true')",
    ],
)
async def test_a_script_that_may_be_right_is_not_refused(checker: TypeChecker, code: str) -> None:
    assert await checked(checker, code, given=["open"], name="open") is None


async def test_an_input_named_files_is_the_input(checker: TypeChecker) -> None:
    assert await checked(checker, "return files[0] + 1", files=[5]) is None
