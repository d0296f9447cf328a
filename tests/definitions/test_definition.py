"""What a definition may contain, and why one is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paddock import BadDefinition, Config
from paddock.definitions.definition import FACES, SHIPPED, parse_definition, shipped
from paddock.definitions.faces import Face, face_of
from paddock.model.limits import CAPS, Limits

LEAST = {"name": "mine", "title": "Mine", "face": "execute", "description": "Runs."}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"companions": ["sesion"]}, "companions may contain discovery, discovery_if_tools, session, not 'sesion'"),
        ({"companions": "session"}, "companions must be a list of strings"),
        ({"refused_modules": [1]}, "refused_modules must be a list of strings"),
        ({"limits": {"calls": 9}, "caps": {"calls": 8}}, "limits.calls is 9, above its cap of 8"),
        ({"limits": {"cals": 9}}, "limits has no 'cals'; did you mean 'calls'?"),
        ({"face": "os.path"}, "face must be one of native, execute"),
        ({"engin": "auto"}, "a definition has no 'engin'; did you mean 'engine'?"),
        (
            {"default_code": "1", "default_inputs": {}, "description": " "},
            "a definition needs 'description', a non-empty string, and has no 'default_code', 'default_inputs'; "
            "known here: name, title, face, description, language, engine, mode, code, inputs, tools",
        ),
    ],
)
def test_an_invalid_value_is_refused_with_the_reason(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadDefinition) as refused:
        parse_definition({**LEAST, **values})
    assert message in str(refused.value)


def test_a_definition_has_the_values_it_is_made_from() -> None:
    made = parse_definition({**LEAST, "companions": ["session"], "limits": {"calls": 8}, "caps": {"calls": 8}})
    assert (made.companions, made.limits, made.refused_modules) == (("session",), {"calls": 8}, ())


def test_every_shipped_definition_has_its_own_name_and_a_face() -> None:
    definitions = [shipped(name) for name in SHIPPED]
    assert [each.name for each in definitions] == list(SHIPPED)
    assert {each.face for each in definitions} == set(FACES)
    assert all(isinstance(face_of(each), Face) for each in definitions)


def test_its_limits_override_the_configured_ones_and_stay_below_the_caps() -> None:
    definition = replace(shipped("python"), limits={"wall_seconds": 10, "memory_bytes": 1000, "calls": 9})
    config = Config(limits=Limits(processes=7), caps=replace(CAPS, memory_bytes=500))
    expected = Limits(processes=7, calls=9, wall_seconds=10, memory_bytes=500)
    assert definition.effective_limits(config) == expected
