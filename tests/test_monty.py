"""How the light engine uses its pool: what each checkout is given, and what a session is used for."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import pytest
from pydantic_monty import Monty

from paddock.config import Config, MontyConfig
from paddock.engines import monty
from paddock.engines.monty import MontyEngine
from paddock.engines.monty_drivers import SUSPENSIONS
from paddock.errors import EngineCrashed, EngineUnavailable
from paddock.model.events import Event, ToolCall
from paddock.model.limits import Limits
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children

ONE_WORKER = Config(monty=MontyConfig(min_workers=1, max_workers=1))


class Watched:
    """A real pool that remembers what it was asked for."""

    def __init__(self, pool: Monty) -> None:
        self._pool = pool
        self.asked: list[dict[str, Any]] = []

    def checkout(self, **options: Any) -> Any:
        self.asked.append(options)
        return self._pool.checkout(**options)

    def __exit__(self, *args: object) -> None:
        self._pool.__exit__(*args)


async def test_every_run_is_a_checkout_of_its_own_with_all_its_limits() -> None:
    engine = MontyEngine(Config())
    async with Paddock(engines={"monty": lambda config: engine}) as paddock:
        await paddock.run("1", engine="monty")
        drivers = await engine._start()
        watched: Any = Watched(drivers.pool)
        drivers.pool = watched
        for driver in drivers._all:
            driver.pool = watched
        limits = Limits(wall_seconds=2.0, memory_bytes=64 * 1024 * 1024, recursion=50)
        for _ in range(2):
            await paddock.run("1", engine="monty", limits=limits)
    wanted = {
        "limits": {
            "max_feed_duration_secs": 2.0,
            "max_memory": 64 * 1024 * 1024,
            "max_recursion_depth": 50,
            "max_suspensions": SUSPENSIONS,
        },
        "assert_message_annotations": False,  # else an assert has words that CPython does not give it
        "os_policy": {"sleep_system_max": math.inf},  # else a sleep over ten seconds ends after ten
    }
    # One more is opened ahead of demand.
    assert watched.asked.count(wanted) >= 2
    assert 100 * Config().caps.calls < SUSPENSIONS


async def test_no_more_workers_are_started_than_configured() -> None:
    config = Config(monty=MontyConfig(min_workers=1, max_workers=2))
    seen: set[int] = set()
    before = set(children())  # of other tests, which share them

    def look() -> None:
        seen.update(set(children()) - before)

    async with Paddock(config, tools=[look]) as paddock:
        await asyncio.gather(*(paddock.run("await look()", engine="monty") for _ in range(20)))
    assert 1 <= len(seen) <= 2


async def test_a_healthy_worker_serves_one_run_after_the_other() -> None:
    async with Paddock(ONE_WORKER) as paddock:
        await paddock.run("1", engine="monty")
        before = children()
        for _ in range(5):
            await paddock.run("x = 1\nx / 0", engine="monty")
        assert children() == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_worker_that_stands_still_is_given_up_at_the_limit() -> None:
    before = set(children())
    async with Paddock(ONE_WORKER) as paddock:
        await paddock.run("1", engine="monty")
        (pid,) = set(children()) - before

        def stop() -> None:
            os.kill(pid, signal.SIGSTOP)
            os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)  # it has several threads, which stop one by one

        other = Paddock(tools=[stop])
        other._engines = paddock._engines
        result = await other.run("await stop()\n5", engine="monty", limits={"wall_seconds": 1.0})
        assert result.verdict is Verdict.TIMEOUT
        assert (await paddock.run("1 + 1", engine="monty")).output == 2


async def test_what_a_script_writes_is_bounded_by_an_error_that_it_can_catch() -> None:
    code = """
try:
    for i in range(200):
        open('/tmp/' + str(i), 'w').write('x' * 1_000_000)
except OSError as e:
    text = str(e)
[60 < i < 70, text]
"""
    async with Paddock() as paddock:
        result = await paddock.run(code, engine="monty")
    assert (result.verdict, result.output) == (Verdict.OK, [True, "[Errno 28] No space left on device"])


async def test_a_worker_that_cannot_be_started_is_a_fault_of_the_host(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(monty, "worker_binary", lambda: "/nonexistent/monty")
    async with Paddock() as paddock:
        with pytest.raises(EngineCrashed, match=r"^the light engine's worker died before the script began: "):
            await paddock.run("1", engine="monty")
    assert "No such file or directory" in capfd.readouterr().err


async def test_a_worker_that_is_not_installed_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("no monty")

    monkeypatch.setattr("pydantic_monty._binary.find_monty_binary", missing)
    async with Paddock() as paddock:
        with pytest.raises(
            EngineUnavailable, match=r"^no monty\. Reinstall Paddock: pip install --force-reinstall paddock-mcp"
        ):
            await paddock.run("1", engine="monty")


async def test_an_answer_that_would_be_read_otherwise_ends_the_run_before_the_script_sees_it() -> None:
    async def price() -> str:
        return "\u0661"

    async with Paddock(tools=[price]) as paddock:
        code = "print('asked')\nprint(int((await price())['result']))"
        lost = await paddock.run(code)
        shown = await paddock.run("print((await price())['result'])")
        again = await paddock.run("1")
    assert lost.error is not None
    assert (lost.verdict, lost.stdout, lost.error.type) == (Verdict.LOST, "asked\n", "EngineUnavailable")
    assert "(reads numbers where the character U+0661 may be)" in lost.error.message
    assert (shown.verdict, shown.stdout) == (Verdict.OK, "\u0661\n")
    assert again.output == 1


async def test_floats_are_put_right_wherever_they_leave_and_text_that_was_given_is_not() -> None:
    seen: list[str] = []

    async def note(r: str = "") -> str:
        seen.append(r)
        return "25329516.211914063 was answered"

    halves = "b = 5.5\nr = b\nfor _ in range(9):\n    r *= b\n"
    async with Paddock(tools=[note]) as paddock:
        result = await paddock.run(halves + "print(r)\nawait note({'r': str(r)})\n", engine="monty")
        answered = await paddock.run("print((await note())['result'])", engine="monty")
        given = await paddock.run("print(x)", inputs={"x": "25329516.211914063"}, engine="monty")
        many = await paddock.run(halves + "for _ in range(3000):\n    print(r, end=' ')\n", engine="monty")
    assert (result.stdout, seen[0]) == (f"{5.5**10}\n", str(5.5**10))
    assert answered.stdout == "25329516.211914063 was answered\n"
    assert given.stdout == "25329516.211914063\n"
    assert many.stdout == f"{5.5**10} " * 3000


async def test_dates_are_parsed_as_here_whatever_the_text() -> None:
    texts = sorted({
        text[:place] + char + text[place + skipped :]
        for text in ("2024-01-05 10:20:30", "2024-02-29 23:59:59")
        for place in range(len(text) + 1)
        for char in ("", *" 0123469+-_:\tTx")
        for skipped in (0, 1)
    })  # fmt: skip
    template = "%Y-%m-%d %H:%M:%S"
    code = (
        "from datetime import datetime\nfound = []\nfor text in texts:\n    try:\n"
        f"        found.append(datetime.strptime(text, {template!r}).isoformat())\n"
        "    except ValueError:\n        found.append('no')\nfound"
    )
    async with Paddock() as paddock:
        result = await paddock.run(code, inputs={"texts": texts})
    assert result.output == [_parsed(text, template) for text in texts]


def _parsed(text: str, template: str) -> str:
    try:
        return datetime.strptime(text, template).isoformat()  # noqa: DTZ007  as the script does
    except ValueError:
        return "no"


async def test_nothing_is_called_for_a_script_whose_run_is_over() -> None:
    called = []

    async def tick(number: int) -> None:
        called.append(number)

    code = "await tick({'number': 1})\nprint('x' * 5000)\nawait tick({'number': 2})\nprint('more')"
    async with Paddock(tools=[tick]) as paddock:
        for _ in range(20):
            result = await paddock.run(code, engine="monty", limits={"output_bytes": 1000})
            assert (result.verdict, [call.id for call in result.calls]) == (Verdict.OUTPUT_LIMIT, [1])
    assert called == [1] * 20


USER: ContextVar[str] = ContextVar("USER", default="nobody")


@pytest.mark.parametrize("before", ["", "print('x')\n", "import asyncio\nawait asyncio.gather()\n"])
async def test_a_tool_finds_the_context_variables_of_whoever_asked_for_the_run(before: str) -> None:
    async def who() -> str:
        return USER.get()

    def who_in_a_thread() -> str:
        return USER.get()

    async with Paddock(tools=[who, who_in_a_thread]) as paddock:
        USER.set("ada")
        result = await paddock.run(f"{before}[await who({{}}), await who_in_a_thread({{}})]", engine="monty")
    assert result.output == [{"result": "ada"}, {"result": "ada"}]


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_whoever_watches_and_fails_at_a_call_ends_the_run(engine: str) -> None:
    async def tick() -> int:
        return 1

    def watch(event: Event) -> None:
        if isinstance(event, ToolCall):
            raise ZeroDivisionError("the watcher's own")

    async with Paddock(tools=[tick]) as paddock:
        with pytest.raises(ZeroDivisionError, match="the watcher's own"):
            await paddock.follow("await tick({})", watch, engine=engine)
