"""The checker inside Monty, which `type_check=True` asks, understands the same stubs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pydantic_monty import Monty, MontyRuntimeError, MontyTypingError

from paddock.model.tools import Tool
from paddock.tools.stubs import module
from tests.tools.samples import ORDERS, SHOP
from tests.tools.test_stubs import EVERY, RIGHT, nasty_tools


@pytest.fixture
def pool() -> Iterator[Monty]:
    with Monty() as pool:
        yield pool


def findings(pool: Monty, stub: str, script: str) -> set[int]:
    """The lines in which the checker finds something wrong. Nothing of the script runs past its first call."""
    with pool.checkout(type_check=True, type_check_stubs=stub, type_check_format="concise") as session:
        try:
            session.feed_start(script)
        except MontyTypingError as error:
            return {int(line) for line in re.findall(r"^main\.py:(\d+):\d+: error", error.display(), re.MULTILINE)}
        except MontyRuntimeError:
            pass
    return set()


def test_correct_scripts_pass(pool: Monty) -> None:
    assert findings(pool, module(EVERY, is_ordered=True), RIGHT) == set()


def test_a_name_that_a_script_assigns_may_hold_anything(pool: Monty) -> None:
    script = "orders = await orders({'status': 'open'})\nfiles = 5\norders['rows'] + files"
    assert findings(pool, module(SHOP, is_ordered=True), script) != set()
    assert findings(pool, module(SHOP, rebound=["orders", "files", "unknown"], is_ordered=True), script) == set()


def test_a_name_that_begins_with_an_underscore_is_exported(pool: Monty) -> None:
    assert findings(pool, module([Tool("s", "_hidden")]), "await _hidden()") == set()


def test_stubs_of_hostile_tools_are_read_to_their_end(pool: Monty) -> None:
    assert findings(pool, module([*nasty_tools(), ORDERS]), "(await orders({'status': 'open'}))['rowz']") == {1}
