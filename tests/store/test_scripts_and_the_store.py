"""Real runs over a real store: what their scripts call is written down, or not done at all."""

from __future__ import annotations

import json
from pathlib import Path

from paddock import Paddock
from paddock.model.result import Verdict
from paddock.store.database import Store
from tests.store.working import locked

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


async def test_a_call_that_a_script_makes_is_in_the_journal_without_its_secrets(path: Path) -> None:
    shop = Shop()
    async with Store(path) as store, Paddock(tools=[shop.buy], journal=store.journal) as paddock:
        result = await paddock.run(SCRIPT, engine="monty")
        ((intent, outcome),) = await store.journal.calls(result.run_id)
    assert (result.verdict, shop.bought) == (Verdict.OK, ["lamp"])
    assert (intent.tool, json.loads(intent.arguments_json)) == ("buy", {"item": "lamp", "password": "[redacted]"})
    assert outcome is not None
    assert (outcome.status, outcome.answer_json) == ("ok", '{"bought": "lamp"}')
    assert b"hunter2" not in path.read_bytes()


async def test_a_call_whose_intent_cannot_be_kept_is_not_made_and_the_run_goes_on(path: Path) -> None:
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
