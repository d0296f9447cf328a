"""What a definition may say, and what is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from paddock import BadDefinition
from paddock.definitions.definition import read

LEAST = {"name": "mine", "title": "Mine", "face": "execute", "description": "Runs."}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"companions": ["sesion"]}, "companions must be of discovery, discovery_if_tools, session, not 'sesion'"),
        ({"companions": "session"}, "companions must be a list of texts"),
        ({"refused_modules": [1]}, "refused_modules must be a list of texts"),
        ({"limits": {"calls": 9}, "caps": {"calls": 8}}, "limits.calls is 9, above its cap of 8"),
        ({"limits": {"cals": 9}}, "limits has no 'cals'; did you mean 'calls'?"),
        ({"engin": "auto"}, "a definition has no 'engin'; did you mean 'engine'?"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadDefinition) as refused:
        read({**LEAST, **values})
    assert said in str(refused.value)


def test_what_it_says_is_what_it_has() -> None:
    made = read({**LEAST, "companions": ["session"], "limits": {"calls": 8}, "caps": {"calls": 8}})
    assert (made.companions, made.limits, made.refused_modules) == (("session",), {"calls": 8}, ())
