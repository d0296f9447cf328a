"""The Monty engine: sessions, hostile values, and how the value of a script is returned."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from paddock.config import Config, MontyConfig
from paddock.engines import monty_workers
from paddock.engines.monty import SUSPENSIONS, MontyEngine
from paddock.engines.monty_source import instrument
from paddock.engines.monty_workers import WorkerPool
from paddock.errors import EngineCrashed, EngineUnavailable
from paddock.model.events import Event, ToolCall
from paddock.model.limits import Limits
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.anomaly.processes import children

ONE_WORKER = Config(monty=MontyConfig(min_workers=1, max_workers=1))
BOMB = "t = 1\nfor _ in range(100):\n    t = (t, t)\nbomb = {t: 1}\n"
"""Hashing it is quick inside Monty, and would take this process longer than the age of the universe."""


async def test_every_run_has_its_own_session_with_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    session = WorkerPool.session

    def watched(self: WorkerPool, **options: Any) -> Any:
        asked.append(options)
        return session(self, **options)

    monkeypatch.setattr(WorkerPool, "session", watched)
    limits = Limits(wall_seconds=2.0, cpu_seconds=1.0, memory_bytes=64 * 1024 * 1024, recursion=50)
    async with Paddock() as paddock:
        for _ in range(2):
            await paddock.run("1", engine="monty", limits=limits)
    wanted = {
        "limits": {
            "max_feed_duration_secs": 2.0,  # Monty does not know processor time
            "max_recursion_depth": 50,
            "max_suspensions": SUSPENSIONS,
        },
        "assert_message_annotations": False,
        "os_policy": {"sleep": "call_host"},  # otherwise Monty ends a sleep after ten seconds
    }
    drawn = [each["limits"].pop("max_memory") for each in asked]
    assert asked == [wanted, wanted]
    assert all(64 << 20 <= each <= 257 << 18 for each in drawn)
    assert drawn[0] != drawn[1], "a run cannot forge the error that another has seen"
    assert 100 * Config().caps.calls < SUSPENSIONS


@pytest.mark.parametrize(
    "code",
    [
        f"{BOMB}bomb",
        f"{BOMB}return bomb",
        f"{BOMB}if bomb: return [bomb]",
        f"{BOMB}x = '''\nreturn bomb\n'''; bomb",
        f"{BOMB}f'''{{'''return'''}}'''\nreturn bomb",  # nested quotes mislead the scan
        f"{BOMB}import os\nos.getenv('X', bomb)",
        f"{BOMB}await call_tool('x', bomb)",
        f"{BOMB}await call_tool(bomb, {{}})",
        f"{BOMB}def isinstance(*_): return True\nawait create_artifact(bomb, bomb)",
        f"{BOMB}def isinstance(*_): return True\nawait report_progress(bomb)",
        f"{BOMB}__paddock_result = bomb",
        f"{BOMB}import json\njson.dumps = lambda *_, **__: bomb\nbomb",
    ],
)
async def test_a_value_that_hashes_for_years_never_reaches_the_host(code: str) -> None:
    async with Paddock() as paddock:
        limits = {"wall_seconds": 2, "memory_bytes": 64 * 1024 * 1024}
        result = await paddock.run(code, engine="monty", limits=limits)
    assert result.output is None
    assert result.verdict in (Verdict.OK, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.RAISED, Verdict.REJECTED)


@pytest.mark.parametrize("size", [999, 1001, 5_000_000])
async def test_no_more_of_a_value_crosses_than_the_limit_allows(size: int) -> None:
    async with Paddock() as paddock:
        result = await paddock.run(f"'x' * {size - 2}", engine="monty", limits={"output_bytes": 1000})
    expected = (Verdict.OK, "x" * (size - 2)) if size <= 1000 else (Verdict.OUTPUT_LIMIT, None)
    assert (result.verdict, result.output) == expected


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("1 + 1", "«1 + 1»"),
        ("x = 1; x  # one\n\n# end", "x = 1; «x  »# one\n\n# end"),
        ("f(\n  1,\n)\n", "«f(\n  1,\n)»\n"),
        ("'''a\n# b\n'''", "«'''a\n# b\n'''»"),
        ("return *a, 2", "return« *a, 2»"),
        ("if x: return 5  # five\n", "if x: return« 5  »# five\n"),
        ("return \\\n  5", "return« \\\n  5»"),
        ("return", "return"),
        ("def f():\n    return 1\nf()", "def f():\n    return 1\n«f()»"),
        ("async  def f(): return 1\nclass A:\n  def g(self):\n\n# x\n    return 2\n", None),
        ("x = 1\n'''\nreturn 1\n'''\n", "x = 1\n«'''\nreturn 1\n'''»\n"),
        ('"return 1 # \\" "; x.returned', '"return 1 # \\" "; «x.returned»'),
        ("y = 5", "«y = 5»"),  # Monty refuses it; the next variant is used
        ("for x in y: f(x); x", None),
        ("if x:\n    1", None),
        ("import json", None),
        ("lambda: 5", "«lambda: 5»"),
        ("x = 5\n \fx", "x = 5\n \f«x»"),
        ("", None),
    ],
)
def test_the_value_of_a_script_is_assigned_to_a_name(code: str, kept: str | None) -> None:
    tries = [
        script.text.replace("[__paddock_result := (", "«").replace(")] and None", "»") for script in instrument(code)
    ]
    assert (tries[0], tries[-1]) == (kept or code, code)


def test_a_column_of_the_instrumented_script_is_found_in_the_script() -> None:
    script = next(iter(instrument("x = 1\nif x: return x; return missing")))
    line = script.text.split("\n")[1]
    assert [script.column(2, line.index(part) + 1) for part in ("if", "x)]", "missing")] == [1, 14, 24]
    assert script.column(1, 3) == 3


@pytest.mark.parametrize("text", ["'", '"', "\\'", '"""', '\'"""\n', "return;", "\n", "(", "#", "\\\n", " \t", "def f"])
def test_a_hostile_script_is_scanned_in_linear_time(text: str) -> None:
    from paddock.engines.monty_source import _TOKEN

    code = text * 20_000
    spans = [token.span() for token in _TOKEN.finditer(code)]
    assert all(start < end for start, end in spans)
    assert sum(end - start for start, end in spans) <= len(code)
    assert list(instrument(code))[-1].text == code


async def test_no_more_workers_are_started_than_configured() -> None:
    config = Config(monty=MontyConfig(min_workers=1, max_workers=2))
    seen: set[int] = set()
    before = set(children())  # other tests share workers

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


async def test_the_kernel_limits_the_memory_of_a_worker() -> None:
    config, before = Config(), children()
    async with Paddock(config) as paddock:
        assert (await paddock.run("1", engine="monty")).output == 1
        most = config.caps.memory_bytes + monty_workers.OWN_BYTES
        limits = [Path(f"/proc/{pid}/limits").read_text() for pid in children() if pid not in before]
        assert {re.search(r"Max data size +(\d+) +(\d+)", text).groups() for text in limits} == {(str(most),) * 2}  # type: ignore[union-attr]


async def test_a_closed_engine_starts_again() -> None:
    engine, before = MontyEngine(Config()), set(children())
    async with Paddock(engines={"monty": lambda config: engine}) as paddock:
        for _ in range(2):
            assert (await paddock.run("1", engine="monty")).output == 1
            assert set(children()) - before
            await engine.close()
            assert not set(children()) - before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_hanging_worker_is_killed_at_the_limit() -> None:
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


async def test_writing_too_many_files_is_an_error_that_a_script_can_catch() -> None:
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


async def test_a_worker_that_cannot_be_started_is_a_host_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(monty_workers, "worker_binary", lambda: "/nonexistent/monty")
    async with Paddock() as paddock:
        with pytest.raises(EngineCrashed, match=r"^Monty's worker died before the script began: "):
            await paddock.run("1", engine="monty")
    assert "No such file or directory" in capfd.readouterr().err


async def test_a_worker_that_is_not_installed_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("no monty")

    monkeypatch.setattr("pydantic_monty._binary.find_monty_binary", missing)
    async with Paddock() as paddock:
        with pytest.raises(EngineUnavailable, match=r"^no monty\. Reinstall Paddock: pip install "):
            await paddock.run("1", engine="monty")


async def test_a_run_that_is_over_makes_no_calls() -> None:
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


async def test_a_tool_sees_the_context_variables_of_the_caller() -> None:
    async def who() -> str:
        return USER.get()

    def who_in_a_thread() -> str:
        return USER.get()

    async with Paddock(tools=[who, who_in_a_thread]) as paddock:
        USER.set("ada")
        result = await paddock.run("print(1)\n[await who({}), await who_in_a_thread({})]", engine="monty")
    assert result.output == [{"result": "ada"}, {"result": "ada"}]


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_a_watcher_that_raises_ends_the_run(engine: str) -> None:
    async def tick() -> int:
        return 1

    def watch(event: Event) -> None:
        if isinstance(event, ToolCall):
            raise ZeroDivisionError("the watcher's own")

    async with Paddock(tools=[tick]) as paddock:
        with pytest.raises(ZeroDivisionError, match="the watcher's own"):
            await paddock.follow("await tick({})", watch, engine=engine)


async def test_a_package_of_full_python_is_not_said_to_be_installed_here() -> None:
    async with Paddock() as paddock:
        result = await paddock.run("import numpy", engine="monty")
    assert result.error is not None
    assert result.error.hint == "`numpy` is not installed. Monty, which runs this script, has no packages."


async def test_the_limit_of_processor_time_is_for_the_whole_run() -> None:
    code = """
def compute():
    n = 0
    while n < COUNT:
        n += 1
class Slow:
    def __repr__(self):
        compute()
        return "slow"
compute()
[Slow()]
"""
    async with Paddock() as paddock:
        for count in (10**5 * 2**n for n in range(20)):
            inputs = {"COUNT": count}
            runs = [await paddock.run(f"{code}\n1", engine="monty", inputs=inputs) for _ in range(3)]
            spent = min(run.usage.cpu_seconds or 0.0 for run in runs)  # by one of its two computations
            if spent > 0.8:
                break
        limits = {"cpu_seconds": round(spent * 1.3, 2), "wall_seconds": 60}
        result = await paddock.run(code, engine="monty", inputs=inputs, limits=limits)
    assert result.verdict is Verdict.TIMEOUT
    assert result.error is not None
    assert "cpu_seconds" in result.error.message
