"""How often a server may be called."""

from __future__ import annotations

from typing import Any

import pytest

from paddock import Config, Paddock
from paddock.tools.rate import Rate
from tests.envelopes import problems
from tests.tools.upstreams import plain


def test_so_many_calls_are_made_in_any_minute_and_no_more() -> None:
    time = [0.0]
    rate = Rate(2, now=lambda: time[0])
    assert [rate.take(), rate.take(), rate.take()] == [0.0, 0.0, 60.0]
    time[0] = 59.5
    assert rate.take() == 0.5
    time[0] = 60.0
    assert [rate.take(), rate.take()] == [0.0, 0.0]
    assert rate.take() == 60.0


def test_without_a_limit_none_is_counted() -> None:
    rate = Rate(None)
    assert {rate.take() for _ in range(1000)} == {0.0}
    assert not rate._made


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_a_call_too_many_is_not_sent_and_says_how_long_to_wait(engine: str) -> None:
    code = (
        "import json\nsaid = []\nfor n in range(4):\n    try:\n"
        "        said.append((await call_tool('plain.add', {'a': n, 'b': 1}))['sum'])\n"
        "    except RuntimeError as problem:\n        said.append(json.loads(str(problem)))\nreturn said"
    )
    async with Paddock(Config(upstreams={"plain": plain(calls_per_minute=2)})) as paddock:
        result = await paddock.run(code, engine=engine)
    assert result.error is None, result.error
    first, second, *rest = result.output
    assert (first, second, len(rest)) == (1, 2, 2)
    for said in rest:
        assert problems(said) == []
        assert _known(said) == ("rate_limited", "RATE_LIMITED", True)
        assert 0 < said["_meta"]["retry_after_seconds"] <= 60


def _known(said: dict[str, Any]) -> tuple[Any, ...]:
    return said["error_kind"], said["error_code"], said["retryable"]
