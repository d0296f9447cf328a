"""The type checker as `Paddock` uses it: with a guest's outline or none, under a clock, and with hostile input."""

from __future__ import annotations

import ast
import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec
import pytest
import pytest_asyncio

from paddock.config import Config
from paddock.engines import type_checker
from paddock.engines.type_checker import TypeChecker
from paddock.guest.python.outline import describe
from paddock.model.events import Finished, Outline
from paddock.model.request import Request
from paddock.planning.plan import Plan, make_plan
from tests.anomaly.processes import children, wait_until_gone

pytestmark = pytest.mark.asyncio(loop_scope="module")
# Each type contains the previous one three times, so checking takes exponential time.
SLOW = "x0 = 1\n" + "\n".join(f"x{n} = (x{n - 1}, x{n - 1}, x{n - 1})" for n in range(1, 400)) + "\nx399.missing"


NESTED = f"x = {'[' * 90}{']' * 90}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def checker() -> AsyncIterator[TypeChecker]:
    checker = TypeChecker(Config())
    yield checker
    await checker.close()


def plan_of(code: str, **limits: float) -> Plan:
    request = Request(code, inputs={"count": 1}, type_check=True, limits=limits)
    return make_plan(request, Config(), engines=["monty", "cpython"], tools=())


def outline_of(code: str) -> Outline:
    return msgspec.convert(describe(ast.parse(code)), Outline)


def told(found: Finished | None) -> tuple[int | None, int | None] | None:
    return None if found is None else (found.line, found.column)


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("return count + 1", None),
        ("if count:\n    return\nreturn 5", None),
        ("return count + 'ä'", (1, 8)),
        ("s = 'äöü'; return s + 1", (1, 19)),
        ("count = 'text'\nreturn count.upper()", None),
        ("count: str = 'text'\ncount.upper()", None),
        ("return missing", (1, 8)),
    ],
)
async def test_a_script_is_checked_alike_with_and_without_an_outline(
    checker: TypeChecker, code: str, place: tuple[int, int] | None
) -> None:
    assert told(await checker.check(plan_of(code), outline_of(code), None)) == place
    assert told(await checker.check(plan_of(code), None, None)) == place


@pytest.mark.parametrize(
    "returns", [[(99, 0, True)], [(0, 0, True)], [(1, 2**31 - 1, True)], [(1, 1, True)], [(1, 0, True)] * 1000]
)
async def test_a_false_outline_does_no_harm(checker: TypeChecker, returns: list[tuple[int, int, bool]]) -> None:
    outline = Outline(returns=returns, spread_lines=[5], unawaited=[(1, 1, "nothing")])
    assert told(await checker.check(plan_of("count + 'ä'"), outline, None)) == (1, 1)


@pytest.mark.parametrize("place", [1, 0, -5, 2**40, 10**4000], ids=lambda place: str(place)[:8])
async def test_an_outline_with_any_number_of_calls_anywhere_does_not_hold_the_host(
    checker: TypeChecker, place: int
) -> None:
    plan = replace(plan_of("return f()"), tools=("f",))
    outline = Outline(unawaited=[(place, place, "f")] * 600_000)
    began = time.thread_time()
    found = await checker.check(plan, outline, lambda _: "async def f() -> int: ...")
    assert time.thread_time() - began < 1
    assert (found is not None) == (place == 1)


async def test_declarations_of_many_tools_are_written_one_at_a_time_even_if_their_runs_have_ended(
    checker: TypeChecker,
) -> None:
    """Eight runs that ended early left no thread for anybody, for 30 s."""
    begun, may_end = threading.Semaphore(0), threading.Event()

    def stubs(_: object) -> str:
        begun.release()
        may_end.wait()
        return ""

    plan = replace(plan_of("1"), tools=tuple(f"tool_{number}" for number in range(type_checker.MANY_TOOLS + 1)))
    ended, waiting = (asyncio.create_task(checker.check(plan, None, stubs)) for _ in range(2))
    await asyncio.to_thread(begun.acquire)
    ended.cancel()
    await asyncio.wait([ended])
    try:
        assert not await asyncio.to_thread(begun.acquire, timeout=0.1)
    finally:
        may_end.set()
    assert await waiting is None


async def test_an_endless_report_is_cut(checker: TypeChecker) -> None:
    code = "count + 'a'\n" * 5000
    found = await checker.check(plan_of(code), outline_of(code), None)
    assert found is not None
    *lines, rest = found.error_message.splitlines()
    assert (len(lines), rest[:4], len(found.error_message) < 20_000) == (type_checker.SHOWN_FINDINGS, "and ", True)


@pytest.mark.parametrize(
    "code",
    [
        "x = 'main.py:1:1: error[fake] text'\nx.missing",
        "x: '\\nmain.py:9:9: error[fake] text' = 1\ncount.missing",
        "count[\"` is not assignable to `\"] + 'Expected `'",
    ],
)
async def test_text_of_the_script_is_not_read_as_a_line_of_the_report(checker: TypeChecker, code: str) -> None:
    found = await checker.check(plan_of(code), None, None)
    assert found is not None
    assert "fake" not in found.error_message.partition("[fake]")[2]
    assert found.line in (1, 2)


async def test_a_check_takes_no_longer_than_the_run_may(checker: TypeChecker) -> None:
    found = await checker.check(plan_of(SLOW, wall_seconds=0.2), None, None)
    assert found is not None
    assert found.error_message.startswith("the type check took too long")


async def test_slow_checks_do_not_delay_other_scripts(checker: TypeChecker) -> None:
    slow = [asyncio.create_task(checker.check(plan_of(NESTED, wall_seconds=900), None, None)) for _ in range(4)]
    await asyncio.sleep(0)
    assert await checker.check(plan_of("count"), None, None) is None
    assert not any(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_cancelled_check_leaves_no_worker() -> None:
    before = set(children())
    checker = TypeChecker(Config())
    assert await checker.check(plan_of("count"), None, None) is None
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await checker.check(plan_of(SLOW, wall_seconds=900), None, None)
    assert await checker.check(plan_of("count"), None, None) is None
    workers = sorted(set(children()) - before)
    await checker.close()
    wait_until_gone(workers)
    assert set(children()) - before == set()


@pytest.mark.parametrize(
    "code", ["x = " + "1 + " * 900 + "1", "x = 1" + " < 1" * 8000], ids=["nested deeply", "a long comparison"]
)
async def test_a_script_that_the_checker_cannot_parse_is_left_to_the_run(checker: TypeChecker, code: str) -> None:
    assert await checker.check(plan_of(code), None, None) is None


async def test_a_crash_of_the_checker_rejects_only_scripts_that_must_be_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checker = TypeChecker(Config())

    async def report(*_: object) -> str:
        async with checker._workers.session() as session:
            os.kill(session.worker_pid or 0, signal.SIGKILL)
            await session.feed_start("1")
        return ""

    monkeypatch.setattr(checker, "_report", report)
    found = await checker.check(plan_of("count"), None, None)
    assert found is not None
    assert found.error_message.startswith("the type check took too long")
    assert await checker.check(replace(plan_of("count"), type_check="tools"), None, None) is None
    await checker.close()


async def test_a_long_name_does_not_make_a_long_message(checker: TypeChecker) -> None:
    found = await checker.check(plan_of("a" * 100_000), None, None)
    assert found is not None
    assert len(found.error_message) <= type_checker.SHOWN_CHARACTERS


async def test_many_returns_on_one_line_take_linear_time() -> None:
    code = "return;" * 140_000
    outline = Outline(returns=[(1, place * 7, False) for place in range(140_000)])
    begun = time.thread_time()
    assert type_checker._checkable(code, outline) == "pass  ;" * 140_000
    assert time.thread_time() - begun < 3  # quadratic code took 18 s


@pytest.mark.parametrize("code", ["x = {\n    **{},\n    'a': {**{}},\n}\n1", "1\nx = {**{}}"])
async def test_lines_of_dicts_that_unpack_others_are_in_the_outline(code: str) -> None:
    assert outline_of(code).spread_lines == ([1, 2, 3, 4] if code.startswith("x") else [2])


@pytest.mark.parametrize("place", ["9" * 5000 + ":1", "1:" + "9" * 5000, "-1:1", ":1", "1"])
async def test_a_line_of_a_report_without_a_position_is_not_a_finding(place: str) -> None:
    assert type_checker._findings(f"main.py:{place}: error[rule] text\nmain.py:3:1: error[rule] text") == [
        type_checker.Finding(2, 1, "rule", "text")
    ]


async def test_a_long_key_does_not_hold_the_host(checker: TypeChecker) -> None:
    parts = ('Invalid argument to key "' * 20, '" with declared type `' * 22, "` on " * 90, ": value of type `" * 26)
    key = "".join(parts).ljust(type_checker.SHOWN_CHARACTERS)
    lines = [f"x{number}: A = {{'a': 1, {key!r}: 1}}" for number in range(type_checker.SHOWN_FINDINGS)]
    code = "\n".join(["from typing import TypedDict", "class A(TypedDict):", "    a: int", *lines])
    begun = time.thread_time()
    found = await checker.check(plan_of(code), None, None)
    assert found is not None
    assert 'Unknown key "Invalid argument to key' in found.error_message
    assert time.thread_time() - begun < 0.5  # patterns that backtrack took 2 s


async def test_many_findings_about_many_tools_take_linear_time() -> None:
    report = "\n".join(f"main.py:{line}:1: error[rule] Argument to function `x{line}`" for line in range(2, 5000))
    typed_dicts, tools = type_checker._TypedDicts.of(""), frozenset(f"x{number}_" for number in range(5000))
    begun = time.thread_time()
    findings = type_checker._findings(report)
    assert not any(type_checker._is_about_tools(finding, tools, typed_dicts) for finding in findings)
    assert type_checker._is_about_tools(findings[0], tools | {"x2"}, typed_dicts)
    assert time.thread_time() - begun < 0.5  # quadratic code took 1.3 s
