"""A fuzz target, and the table of all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

Run = Callable[[bytes], object]
Opened = Callable[[], AbstractAsyncContextManager[Run]]


@dataclass(frozen=True)
class Target:
    """A reader of hostile input, what it may raise, and how long it may take."""

    name: str
    open: Opened
    seeds: tuple[bytes, ...]
    raises: tuple[type[Exception], ...]
    tokens: tuple[str, ...]
    seconds: float
    seconds_per_byte: float


TARGETS: dict[str, Target] = {}
Seed = bytes | str | dict[str, Any] | list[Any]


def seed(value: Seed) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode(errors="surrogatepass")


def target(
    *seeds: Seed,
    raises: tuple[type[Exception], ...] = (),
    tokens: Sequence[str] = (),
    seconds: float = 0.5,
    seconds_per_byte: float = 10e-6,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function of bytes to the table, or a context manager that opens one."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        @asynccontextmanager
        async def plain() -> AsyncIterator[Run]:
            yield function

        name = function.__name__.rstrip("_")
        is_opened = hasattr(function, "__wrapped__")
        opened: Opened = function if is_opened else plain
        made = Target(name, opened, tuple(map(seed, seeds)), raises, tuple(tokens), seconds, seconds_per_byte)
        TARGETS[name] = made
        return function

    return add


def text_of(data: bytes) -> str:
    """Text as JSON may carry it: with lone surrogates."""
    try:
        return data.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return data.decode(errors="replace")


def is_text(value: object) -> bool:
    """Whether this is text that can be encoded."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def json_of(data: bytes) -> Any:
    """The value of JSON input; None for anything else, which says nothing about what reads values."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
