"""The journal on disk: only the intent of a call that may change something is waited for, until it is committed."""

from __future__ import annotations

import asyncio
import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import Paddock
from paddock.errors import StoreError
from paddock.model.journal import Intent, Outcome
from paddock.model.result import Verdict
from paddock.store import journal as stored_journal
from paddock.store.database import Store
from paddock.store.runs import RUNNING
from tests.anomaly.processes import start, wait_until_gone
from tests.store import empty
from tests.store.working import held_up, locked

BUY = Intent("r_1", 1, "shop.buy", '{"item": 1}', is_read_only=False, at=5.0)
LOOK = Intent("r_1", 2, "shop.look", "{}", is_read_only=True, at=6.0)
BOUGHT = Outcome("r_1", 1, "ok", 2.5, '{"done": true}')


async def test_calls_are_returned_in_program_order_with_their_outcomes(store: Store) -> None:
    await store.journal.intend(LOOK)
    await store.journal.intend(BUY)
    await store.journal.conclude(BOUGHT)
    await store.journal.intend(replace(LOOK, run_id="r_2"))
    assert await store.journal.calls("r_1") == [(BUY, BOUGHT), (LOOK, None)]
    assert await store.journal.calls("r_3") == []


async def test_a_repeated_number_is_a_new_call(store: Store) -> None:
    await store.journal.intend(BUY)
    await store.journal.conclude(BOUGHT)
    again = replace(BUY, arguments_json="{}")
    await store.journal.intend(again)
    assert await store.journal.calls("r_1") == [(again, None)]


async def test_an_outcome_without_an_intent_is_ignored(store: Store) -> None:
    await store.journal.conclude(BOUGHT)
    assert await store.journal.calls("r_1") == []


async def test_only_the_intent_of_a_call_that_may_change_something_waits_for_the_disk(store: Store) -> None:
    with held_up(store.writer):
        async with asyncio.timeout(60):
            await store.journal.intend(LOOK)
            await store.journal.conclude(Outcome("r_1", 2, "ok", 1.0, "[]"))
        waiting = asyncio.ensure_future(store.journal.intend(BUY))
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    assert [intent for intent, _ in await store.journal.calls("r_1")] == [BUY, LOOK]


async def test_answers_beyond_the_limits_are_not_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_journal, "ANSWER_CHARACTERS", 100)
    monkeypatch.setattr(stored_journal, "RUN_CHARACTERS", 250)
    for number, size in enumerate((100, 101, 100, 51, 50)):
        await store.journal.intend(replace(LOOK, number=number))
        await store.journal.conclude(Outcome("r_1", number, "ok", 1.0, "1" * size))
    kept = [len(outcome.answer_json) for _, outcome in await store.journal.calls("r_1") if outcome]
    assert kept == [100, 0, 100, 0, 50]


CALLING = """
import asyncio, sys
from paddock.model.journal import Intent, Outcome
from paddock.store.database import Store
from paddock.store.runs import NewRun

async def main():
    store = Store({path!r})
    await store.runs.begin(NewRun("r_1", "ada", "code", "python"))
    store.runs.add_output("r_1", "stdout", "begun")
    await store.runs.get("ada", "r_1")
    for number in range(1_000_000):
        await store.journal.intend(Intent("r_1", number, "shop.buy", "{{}}", False, float(number)))
        sys.stdout.write(f"{{number}}\\n")  # the call itself: from here on it is made
        sys.stdout.flush()
        await store.journal.conclude(Outcome("r_1", number, "ok", 1.0, "[]"))

asyncio.run(main())
"""


async def test_every_call_that_was_made_is_journalled_when_the_process_is_killed(path: Path) -> None:
    process = start(CALLING.format(path=str(path)))
    assert process.stdout is not None
    for _ in range(200):
        await asyncio.to_thread(process.stdout.readline)
    process.send_signal(signal.SIGKILL)
    rest, said = process.communicate()
    made = 200 + len(rest.splitlines())
    assert (said, process.returncode) == ("", -signal.SIGKILL)
    async with Store(path) as store:
        calls = await store.journal.calls("r_1")
        assert [intent.number for intent, _ in calls][:made] == list(range(made))
        assert len(calls) <= made + 1  # one may have been committed and not made
        assert [outcome for _, outcome in calls[: made - 100] if outcome is None] == []
        assert await store.runs.mark_lost() == ["r_1"]
        run = await store.runs.get("ada", "r_1")
        assert run is not None
        result = run.to_dict()["result"]
        assert (run.verdict, result["verdict"], result["stdout"]) == ("lost", "lost", "begun")
        assert (len(result["calls"]), result["error"]["type"]) == (len(calls), "HostError")
        assert await store.journal.calls("r_1") == calls
        assert await store.runs.mark_lost() == []


GOING = """
import asyncio, sys
from paddock.store.database import Store
from paddock.store.runs import NewRun

async def main():
    store = Store({path!r})
    await store.runs.begin(NewRun("r_" + sys.stdin.readline().strip(), "ada", "code", "python"))
    await store.writer.flush()
    print("begun", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""


async def test_runs_of_a_live_process_are_not_marked_lost(path: Path) -> None:
    alive, killed = [start(GOING.format(path=str(path))) for _ in range(2)]
    for name, process in (("alive", alive), ("killed", killed)):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        assert await asyncio.to_thread(process.stdout.readline) == "begun\n"
    killed.kill()
    wait_until_gone([killed.pid])
    async with Store(path) as store:
        assert await store.runs.mark_lost() == ["r_killed"]
        assert [run.id for run in await store.runs.list("ada", verdict=RUNNING)] == ["r_alive"]
        alive.communicate("end\n")  # without a verdict, and without being killed
        assert await store.runs.mark_lost() == ["r_alive"]
    killed.communicate()
    assert list(path.with_name("paddock.db.owners").iterdir()) == []


async def test_runs_of_this_process_are_not_marked_lost_by_any_of_its_stores(path: Path) -> None:
    from tests.store.test_runs import RUN

    async with Store(path) as one, Store(path) as two:
        await one.runs.begin(RUN)
        await one.writer.flush()
        assert (await one.runs.mark_lost(), await two.runs.mark_lost()) == ([], [])
    async with Store(path) as again:
        assert await again.runs.mark_lost() == ["r_1"]


async def test_queued_read_only_calls_are_one_item_of_work(store: Store) -> None:
    looks = [replace(LOOK, number=number) for number in range(50)]
    outcomes = [Outcome("r_1", number, "ok", 1.0, f"[{number}]") for number in range(49)]
    with held_up(store.writer):
        for look in looks:
            await store.journal.intend(look)
        for outcome in outcomes:
            await store.journal.conclude(outcome)
        assert store.writer._background_count == 1
    assert await store.journal.calls("r_1") == [*zip(looks, outcomes, strict=False), (looks[49], None)]


async def test_a_call_that_does_not_fit_into_a_batch_is_written_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_journal, "BATCH_CHARACTERS", 100)
    looks = [
        replace(LOOK, number=number, arguments_json=f'"{"x" * size}"') for number, size in enumerate((60, 60, 500))
    ]
    outcomes = [Outcome("r_1", number, "ok", 1.0, f'"{"y" * 90}"') for number in range(3)]
    for look in looks:
        await store.journal.intend(look)
    for outcome in outcomes:
        await store.journal.conclude(outcome)
    assert await store.journal.calls("r_1") == list(zip(looks, outcomes, strict=True))


async def test_a_closed_store_refuses_calls(path: Path) -> None:
    empty.put(path)
    store = Store(path)
    await store.journal.intend(LOOK)
    await store.close()
    with pytest.raises(StoreError):
        await store.journal.intend(replace(LOOK, number=3))
    with pytest.raises(StoreError):
        await store.journal.conclude(Outcome("r_1", 2, "ok", 1.0, "[]"))
    async with Store(path) as again:
        assert await again.journal.calls("r_1") == [(LOOK, None)]


SCRIPT = """
try:
    await buy({"item": "lamp", "password": "hunter2"})
except RuntimeError as problem:
    print(problem)
"""


class Shop:
    """A tool that changes something."""

    def __init__(self) -> None:
        self.bought: list[str] = []

    def buy(self, item: str, password: str) -> dict[str, str]:
        """Buy an item."""
        self.bought.append(item)
        return {"bought": item}


async def test_a_call_is_journalled_without_its_secrets(path: Path) -> None:
    shop = Shop()
    async with Store(path) as store, Paddock(tools=[shop.buy], journal=store.journal) as paddock:
        result = await paddock.run(SCRIPT, engine="monty")
        ((intent, outcome),) = await store.journal.calls(result.run_id)
    assert (result.verdict, shop.bought) == (Verdict.OK, ["lamp"])
    assert (intent.tool, json.loads(intent.arguments_json)) == ("buy", {"item": "lamp", "password": "[redacted]"})
    assert outcome is not None
    assert (outcome.status, outcome.answer_json) == ("ok", '{"bought": "lamp"}')
    assert b"hunter2" not in path.read_bytes()


async def test_a_call_whose_intent_cannot_be_stored_is_not_made_and_the_run_continues(path: Path) -> None:
    shop = Shop()
    async with Store(path, busy_seconds=0.05) as store, Paddock(tools=[shop.buy], journal=store.journal) as paddock:
        with locked(path):
            result = await paddock.run(SCRIPT, engine="monty")
        assert (result.verdict, shop.bought) == (Verdict.OK, [])
        assert json.loads(result.stdout)["summary"] == (
            "The call was not made: the journal cannot be written (StoreError)."
        )
        assert (await paddock.run(SCRIPT, engine="monty")).verdict is Verdict.OK
    assert shop.bought == ["lamp"]
