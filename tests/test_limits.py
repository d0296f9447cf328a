"""Limits are applied as requested or refused, never adjusted."""

from __future__ import annotations

import math
import re

import pytest

from paddock.errors import BadLimit, LimitTooHigh
from paddock.model.limits import CAPS, MB, NAMES, Limits, resolve

DEFAULT = Limits()


def test_no_requested_limits_give_the_defaults() -> None:
    assert resolve(None, DEFAULT, CAPS) is DEFAULT


def test_the_defaults_are_those_of_the_design() -> None:
    mb = 1024 * 1024
    assert Limits() == Limits(30.0, 60.0, 512 * mb, 1 * mb, 100, 64, 1000, 4096 * mb, 16 * mb)
    assert Limits(900.0, 3600.0, 4096 * mb, 16 * mb, 10_000, 64, 10_000, 4096 * mb, 16 * mb) == CAPS


def test_a_mapping_overrides_the_defaults() -> None:
    assert resolve({"wall_seconds": 0.5, "calls": 3}, DEFAULT, CAPS) == Limits(wall_seconds=0.5, calls=3)


def test_a_limits_object_replaces_all_of_them() -> None:
    asked = Limits(wall_seconds=1, memory_bytes=2, output_bytes=3, calls=4, processes=5, recursion=6)
    assert resolve(asked, Limits(wall_seconds=9), CAPS) == asked


def test_a_limit_may_be_as_high_as_its_cap_and_no_higher() -> None:
    for name in NAMES:
        cap = getattr(CAPS, name)
        assert getattr(resolve({name: cap}, DEFAULT, CAPS), name) == cap
        with pytest.raises(LimitTooHigh, match=f"^{name} may be at most .* here, not "):
            resolve({name: cap + 1}, DEFAULT, CAPS)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("memory_bytes", 5 * 1024 * MB, "memory_bytes may be at most 4096 MB here, not 5120 MB"),
        ("memory_bytes", 4096 * MB + 1, "memory_bytes may be at most 4096 MB here, not 4294967297"),
        ("memory_bytes", 10**30, "memory_bytes may be at most 4096 MB here, not 1000000000000000000000000000000"),
        ("memory_bytes", 10**400, "memory_bytes may be at most 4096 MB here, not a number of hundreds of digits"),
        ("wall_seconds", 3600, "wall_seconds may be at most 900 s here, not 3600 s"),
        ("wall_seconds", 900.00001, "wall_seconds may be at most 900 s here, not 900.00001"),
        ("calls", 10_001, "calls may be at most 10000 here, not 10001"),
    ],
)
def test_a_limit_that_is_too_high_is_shown_with_its_unit(name: str, value: float, message: str) -> None:
    with pytest.raises(LimitTooHigh, match=f"^{re.escape(message)}$"):
        resolve({name: value}, DEFAULT, CAPS)


@pytest.mark.parametrize("value", [0, 0.0, -0.0])
def test_zero_is_refused_where_nothing_could_run(value: float) -> None:
    for name in ("wall_seconds", "memory_bytes", "output_bytes", "recursion"):
        with pytest.raises(BadLimit, match=f"^{name} must be a positive, finite number, not "):
            resolve({name: value}, DEFAULT, CAPS)


@pytest.mark.parametrize("name", ["calls", "processes"])
def test_zero_calls_or_processes_mean_none(name: str) -> None:
    assert getattr(resolve({name: 0}, DEFAULT, CAPS), name) == 0


@pytest.mark.parametrize("value", [-1, -0.5, math.nan, math.inf, -math.inf])
def test_negative_and_non_finite_numbers_are_refused(value: float) -> None:
    for name in NAMES:
        with pytest.raises(BadLimit, match=f"^{name} must be a positive, finite number, not {value}$"):
            resolve({name: value}, DEFAULT, CAPS)


@pytest.mark.parametrize("value", [True, False, "5", None, [5], b"5", 5j])
def test_a_value_that_is_not_a_number_is_refused(value: object) -> None:
    for name in NAMES:
        with pytest.raises(BadLimit, match=f"^{name} must be a number, not "):
            resolve({name: value}, DEFAULT, CAPS)


def test_a_fraction_is_refused_for_a_limit_that_counts() -> None:
    for name in NAMES:
        if not name.endswith("_seconds"):
            with pytest.raises(BadLimit, match=f"^{name} must be a whole number, not 1.5$"):
                resolve({name: 1.5}, DEFAULT, CAPS)


def test_a_whole_number_written_as_a_fraction_is_that_number() -> None:
    calls = resolve({"calls": 5.0}, DEFAULT, CAPS).calls
    assert (calls, type(calls)) == (5, int)


def test_a_number_too_large_to_be_a_float_or_to_be_shown_is_refused_as_too_high() -> None:
    for name in NAMES:
        with pytest.raises(LimitTooHigh, match=r"not a number of hundreds of digits$"):
            resolve({name: 10**5000}, DEFAULT, CAPS)


def test_an_unknown_limit_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BadLimit, match=r"^there is no limit 'wall_second'; did you mean 'wall_seconds'\?$"):
        resolve({"wall_second": 5}, DEFAULT, CAPS)


@pytest.mark.parametrize("name", ["zzz", 5, None])
def test_an_unknown_limit_without_a_near_name_lists_them_all(name: object) -> None:
    with pytest.raises(BadLimit, match=f"known here: {', '.join(NAMES)}$"):
        resolve({name: 5}, DEFAULT, CAPS)  # type: ignore[dict-item]


def test_limits_that_are_not_a_mapping_are_refused_briefly() -> None:
    with pytest.raises(BadLimit, match=r"^limits must be a Limits or a mapping .* not \[0, 0, .*\.\.\.$") as caught:
        resolve([0] * 1000, DEFAULT, CAPS)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


def test_a_limits_object_is_checked_like_a_mapping() -> None:
    with pytest.raises(BadLimit, match=r"^wall_seconds must be a positive, finite number, not nan$"):
        resolve(Limits(wall_seconds=math.nan), DEFAULT, CAPS)
