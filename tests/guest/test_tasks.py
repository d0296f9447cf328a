"""What a script started and did not await: what becomes of it, and how the script is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.guest.conftest import Run
from tests.guest.harness import tools


def fail(arguments: Any) -> Any:
    raise ValueError(f"no contact {arguments.get('id', 1)}")


OPTIONS = {"start": {"tools": ["save", "fail"]}, "answer": tools(save=lambda arguments: {"id": 1}, fail=fail)}
FAILURE = {"error_kind": "internal_error", "summary": "no contact 1"}


@pytest.mark.parametrize(
    ("code", "warning"),
    [
        ("call_tool('save', {})", "call_tool('save') on line 2 was never awaited, so it had no effect"),
        ("call_tool(name='save')", "call_tool('save') on line 2 was never awaited, so it had no effect"),
        ("save({})", "save() on line 2 was never awaited, so it had no effect"),
        ("create_artifact('a.txt', 'x')", "create_artifact('a.txt') on line 2 was never awaited, so it had no effect"),
        ("x = call_tool('save', {})", "call_tool('save') on line 2 was never awaited, so it had no effect"),
        ("x = {'a': call_tool('save', {})}", "call_tool('save') on line 2 was never awaited, so it had no effect"),
        ("for i in range(3):\n    save({})", "save() on line 3 was never awaited, so it had no effect (3 times)"),
        ("async def main():\n    await save()\nmain()", "main() on line 4 was never awaited, so it did not run"),
        ("def f():\n    call_tool('save')\nf()", "call_tool('save') on line 3 was never awaited, so it had no effect"),
    ],
)
@pytest.mark.parametrize("first", ["import asyncio", "await save()"])
def test_a_call_that_nobody_awaited_is_a_warning(run: Run, code: str, warning: str, first: str) -> None:
    ran = run(f"{first}\n{code}\n{{'saved': True}}", **OPTIONS)
    assert (ran.value, ran.stderr) == ({"saved": True}, "")
    assert ran.header["warnings"] == [f"{warning}: write `await` before it."]


def test_it_is_told_beside_the_error_that_it_led_to(run: Run) -> None:
    ran = run("x = call_tool('save', {})\nx['id']", **OPTIONS)
    assert ran.raised == ("TypeError", "'coroutine' object is not subscriptable")
    assert ran.header["warnings"] == [
        "call_tool('save') on line 1 was never awaited, so it had no effect: write `await` before it."
    ]


def test_a_script_that_returns_it_is_told_the_line(run: Run) -> None:
    ran = run("x = 1\nreturn [save({})]", **OPTIONS)
    assert (ran.raised[0], ran.header["line"]) == ("TypeError", 2)


@pytest.mark.parametrize(
    "code",
    [
        "asyncio.create_task({call})",
        "t = asyncio.ensure_future({call})",
        "asyncio.gather({call}, asyncio.sleep(0))",
        "async def f():\n    done.append(await {call})\nasyncio.create_task(f())",
    ],
)
class TestATaskThatNobodyAwaited:
    def test_is_waited_for_where_it_waits_for_a_call(self, run: Run, code: str) -> None:
        ran = run(f"import asyncio\ndone = []\n{code.format(call='save()')}\nawait asyncio.sleep(0)\ndone", **OPTIONS)
        assert (ran.calls, ran.stderr) == ([("save", {})], "")
        assert ran.value == ([{"id": 1}] if "def" in code else [])
        assert "warnings" not in ran.header

    @pytest.mark.parametrize("pause", ["await asyncio.sleep(0)", "await asyncio.sleep(0.1)\nawait save()"])
    def test_fails_the_run_where_it_failed(self, run: Run, code: str, pause: str) -> None:
        ran = run(f"import asyncio\ndone = []\n{code.format(call='fail({})')}\n{pause}\ndone", **OPTIONS)
        assert (ran.raised[0], json.loads(ran.raised[1]), ran.stderr) == ("RuntimeError", FAILURE, "")
        assert ran.header["line"] == (4 if "def" in code else 3)

    def test_and_so_it_is_in_a_loop_of_the_script(self, run: Run, code: str) -> None:
        lines = code.format(call="fail({})").replace("\n", "\n    ")
        ran = run(f"import asyncio\ndone = []\nasync def main():\n    {lines}\nasyncio.run(main())\n5", **OPTIONS)
        assert (ran.raised[0], json.loads(ran.raised[1]), ran.stderr) == ("RuntimeError", FAILURE, "")
        assert ran.header["line"] == (5 if "def" in code else 4)


@pytest.mark.parametrize("start", ["asyncio.create_task", "asyncio.ensure_future", "asyncio.gather"])
def test_a_script_that_only_starts_tasks_has_a_loop_for_them(run: Run, start: str) -> None:
    ran = run(f"import asyncio\nx = {start}(save())\n5", **OPTIONS)
    assert (ran.value, ran.calls) == (5, [("save", {})])


def test_a_task_in_the_result_is_told_with_its_line(run: Run) -> None:
    ran = run("import asyncio\n{'x': asyncio.gather(save(), save())}", **OPTIONS)
    assert (ran.raised[0], ran.header["line"], len(ran.calls)) == ("TypeError", 2, 2)


def test_a_task_makes_all_its_calls(run: Run) -> None:
    code = """
import asyncio
done = []
async def f(n):
    for i in range(3):
        await asyncio.gather(save(), save())
    done.append(n)
for n in range(2):
    asyncio.create_task(f(n))
await asyncio.sleep(0)
done
"""
    ran = run(code, **OPTIONS)
    assert (sorted(ran.value), len(ran.calls)) == ([0, 1], 12)


def test_a_failure_that_was_looked_at_is_the_scripts_own_affair(run: Run) -> None:
    code = """
import asyncio
tasks = [asyncio.create_task(fail({})), asyncio.create_task(save())]
await asyncio.wait(tasks)
[type(task.exception()).__name__ for task in tasks]
"""
    ran = run(code, **OPTIONS)
    assert (ran.value, ran.stderr) == (["RuntimeError", "NoneType"], "")


def test_a_task_that_waits_for_something_else_is_stopped(run: Run) -> None:
    code = (
        "import asyncio\nasync def tick():\n    await asyncio.sleep(100)\nasyncio.create_task(tick())\nawait save()\n5"
    )
    ran = run(code, **OPTIONS)
    assert (ran.value, ran.header["warnings"]) == (
        5,
        ["The task tick() of line 4 was still running when the script ended, and was stopped: await it."],
    )


def test_a_worker_at_an_empty_queue_may_be_stopped(run: Run) -> None:
    code = """
import asyncio
queue = asyncio.Queue()
async def work():
    while True:
        await queue.get()
        await save()
        queue.task_done()
asyncio.create_task(work())
for n in range(3):
    queue.put_nowait(n)
await queue.join()
"""
    ran = run(code, **OPTIONS)
    assert (ran.status, len(ran.calls), "warnings" in ran.header) == ("ok", 3, False)


@pytest.mark.parametrize(("call", "status"), [("save()", "ok"), ("fail({})", "raised")])
def test_a_loop_that_the_script_has_stopped_is_waited_for(run: Run, call: str, status: str) -> None:
    code = f"""
import asyncio
done = []
async def main():
    async def work():
        done.append(await {call})
    loop.create_task(work())
    await asyncio.sleep(0)
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
done
"""
    ran = run(code, **OPTIONS)
    assert (ran.status, ran.body) == (status, b'[{"id": 1}]' if status == "ok" else b"")


def test_a_call_that_failed_in_a_task_group_is_told_as_such(run: Run) -> None:
    code = """
import asyncio
failed = 0
async def work():  # a group cancels its other tasks at the first failure: both have failed before either says so
    global failed
    try:
        await fail({})
    finally:
        failed += 1
        while failed < 2:
            await asyncio.sleep(0)
async with asyncio.TaskGroup() as group:
    group.create_task(work())
    group.create_task(work())
"""
    ran = run(code, **OPTIONS)
    assert (ran.raised[0], json.loads(ran.raised[1])) == ("RuntimeError", FAILURE)
    assert (ran.header["line"], "ExceptionGroup: unhandled errors" in ran.header["traceback"]) == (7, True)
    assert ran.header["warnings"] == ["2 tasks of a TaskGroup failed; this is the error of one of them."]


def test_several_failures_are_counted(run: Run) -> None:
    code = "import asyncio\nfor i in range(3):\n    asyncio.create_task(fail({}))\nawait asyncio.sleep(0)"
    ran = run(code, **OPTIONS)
    assert ran.raised[0] == "RuntimeError"
    assert ran.header["warnings"] == ["3 tasks that were never awaited failed; this is the error of one of them."]


def test_a_program_prints_what_python_prints(run: Run) -> None:
    ran = run("async def f(): pass\nf()", start={"mode": "script"})
    assert ran.stderr.startswith("main.py:2: RuntimeWarning: coroutine 'f' was never awaited\n")
    assert "warnings" not in ran.header


def test_input_finds_no_one(run: Run) -> None:
    assert run("input('name? ')").raised == ("EOFError", "EOF when reading a line")
    assert run("import sys\nsys.stdin.read()").value == ""
