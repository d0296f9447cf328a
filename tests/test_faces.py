"""Faces are modules; each has all that the Protocol asks for, and every definition that is shipped has a face."""

from __future__ import annotations

import inspect
from dataclasses import replace
from importlib import import_module

import pytest

from paddock import Config
from paddock.definitions.definition import SHIPPED, shipped
from paddock.definitions.faces.face import FACES, Face
from paddock.definitions.limits import all_limits_of
from paddock.model.limits import CAPS, Limits

FUNCTIONS = [name for name, value in vars(Face).items() if inspect.isfunction(value) and not name.startswith("_")]


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_every_function_with_its_parameters(face: str) -> None:
    module = import_module(FACES[face])
    for name in FUNCTIONS:
        _, *wanted = inspect.signature(getattr(Face, name)).parameters
        assert list(inspect.signature(getattr(module, name)).parameters) == wanted, name


@pytest.mark.parametrize("name", SHIPPED)
def test_a_definition_that_is_shipped_has_its_own_name_and_a_face(name: str) -> None:
    definition = shipped(name)
    assert definition.name == name
    assert definition.face in FACES


def test_the_limits_of_a_definition_are_laid_over_the_configured_ones_and_stay_below_the_caps() -> None:
    definition = replace(shipped("python"), limits={"wall_seconds": 10, "memory_bytes": 1000, "calls": 9})
    config = Config(limits=Limits(processes=7), caps=replace(CAPS, memory_bytes=500))
    assert all_limits_of(definition, config) == Limits(processes=7, calls=9, wall_seconds=10, memory_bytes=500)
