"""The limits of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from paddock.errors import BadLimit, LimitTooHigh
from paddock.model.spelling import did_you_mean

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. Wall time starts when the interpreter is ready, and includes waiting for tools."""

    wall_seconds: float = 30.0
    cpu_seconds: float = 60.0
    memory_bytes: int = 512 * MB
    output_bytes: int = 1 * MB
    calls: int = 100
    processes: int = 64
    recursion: int = 1000
    file_bytes: int = 4096 * MB  # size of one file that the script writes; the jail limits their total
    stream_characters: int = 16 * MB  # more on stdout ends the run; more on stderr is dropped

    def to_dict(self) -> dict[str, float | int]:
        return asdict(self)


CAPS = Limits(
    wall_seconds=900.0,
    cpu_seconds=3600.0,
    memory_bytes=4096 * MB,
    output_bytes=16 * MB,
    calls=10_000,
    processes=64,
    recursion=10_000,
    file_bytes=4096 * MB,
    stream_characters=16 * MB,
)

NAMES = tuple(field.name for field in fields(Limits))
_FRACTIONAL = frozenset({"wall_seconds", "cpu_seconds"})
_MAY_BE_ZERO = frozenset({"calls", "processes"})


def format_bytes(number: int) -> str:
    """A size for a message: `1 MB`, `1.5 KB` or `12 bytes`."""
    unit, size = ("MB", MB) if number >= MB else ("KB", 1024)
    return f"{round(number / size, 2):.12g} {unit}" if number >= 1024 else f"{number} bytes"


def format_limit(name: str, value: float) -> str:
    """A limit for a message, with its unit: `memory_bytes = 32 MB`."""
    return f"{name} = {_with_unit(name, value)}"


def _with_unit(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        return format_bytes(int(value))
    return f"{value:g} s" if name.endswith("_seconds") else f"{value}"


def resolve(requested: Limits | Mapping[str, object] | None, default: Limits, caps: Limits) -> Limits:
    """`default` overridden by `requested`. A negative, infinite or too high limit is an error; most must not be 0."""
    if requested is None:
        return default
    if isinstance(requested, Limits):
        requested = requested.to_dict()
    elif not isinstance(requested, Mapping):
        raise BadLimit(
            f"limits must be a Limits or a mapping such as {{'wall_seconds': 5}}, not {_short_repr(requested)}"
        )
    return replace(default, **{name: _check(name, value, caps) for name, value in requested.items()})  # type: ignore[arg-type]


def _check(name: object, value: object, caps: Limits) -> float | int:
    if not isinstance(name, str) or name not in NAMES:
        raise BadLimit(f"there is no limit {name!r}; {did_you_mean(name, NAMES)}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadLimit(f"{name} must be a number, not {_short_repr(value)}")
    is_not_finite = isinstance(value, float) and not math.isfinite(value)
    if is_not_finite or value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
        raise BadLimit(f"{name} must be a positive, finite number, not {_short_repr(value)}")
    if name not in _FRACTIONAL:
        if value != int(value):
            raise BadLimit(f"{name} must be a whole number, not {value}")
        value = int(value)
    cap = getattr(caps, name)
    if value > cap:
        raise LimitTooHigh(f"{name} may be at most {_with_unit(name, cap)} here, not {_excess(name, value, cap)}")
    return value


def _excess(name: str, value: float, cap: float) -> str:
    """A value above the cap, for a message: with its unit, unless it is huge or would look like the cap."""
    if value > cap * 10**9:
        return _short_repr(value)
    text = _with_unit(name, value)
    return text if text != _with_unit(name, cap) else _short_repr(value)


def _short_repr(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a number of hundreds of digits"  # beyond 4300 of them, repr() raises
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
