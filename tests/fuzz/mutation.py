"""Makes new inputs out of known ones: flipped bits, splices, tokens, deep nesting, huge numbers, long repeats.

JSON is also changed as a tree, so that most of what comes out still gets past the parser.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

MAX_BYTES = 128 * 1024
_NUMBERS = (b"1e400", b"-1e400", b"NaN", b"Infinity", b"9" * 5000, b"1" + b"0" * 400, b"-0", b"1e-400")
_NESTED = [a * n + b"1" + b * n for n in (60, 150, 600, 5000) for a, b in ((b"[", b"]"), (b'{"a":', b"}"))]
RAW = [*_NUMBERS, *_NESTED]
"""JSON that `json.dumps` does not write. The text "@n@" stands for the item n of this list."""
TEXTS = [
    *(
        "",
        " ",
        "\0",
        "\n",
        "\r\n",
        "\ud800",
        "\udfff\ud800",
        "\ufeff",
        "\u202e",
        "\u2028",
        "é",
        "ﬁ",
        "😀",
        "\x1b]0;x\x07",
    ),
    *(
        "a" * 300,
        "a" * 20_000,
        "\n" * 5000,
        "``" * 300,
        "(a+)+$",
        "__proto__",
        "../../etc/passwd",
        "%00%ff",
        "${A:-${B}}",
    ),
    *(
        "main.js:" + "9" * 6000 + ":1",
        "<--- Last few GCs --->",
        "heap out of memory",
        "{" * 2000,
        '{"error_kind":',
        "٣",
    ),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30),
    *([], {}, [None], {"": None}, "", [[]], *(f"@{number}@" for number in range(len(RAW)))),
]
BYTES = [
    b"\0",
    b"\xff",
    b"\n",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"9" * 5000,
    b"1e400",
    b"\\ud800",
    b"\xed\xa0\x80",
]


class Mutator:
    """Deterministic: the same seed and the same pool give the same inputs."""

    def __init__(self, seed: object, tokens: Sequence[str] = ()) -> None:
        self._random = random.Random(str(seed))  # noqa: S311  it has to be repeatable
        self._tokens = list(tokens)
        self._byte_changes: list[Callable[[bytes, Sequence[bytes]], bytes]] = [
            self._flip,
            self._cut,
            self._repeat,
            self._insert,
            self._splice,
            self._overwrite,
        ]

    def mutate(self, pool: Sequence[bytes]) -> bytes:
        data = self._random.choice(pool)
        if self._random.random() < 0.7:
            data = (self._json(data, pool) or data)[:MAX_BYTES]
        if self._random.random() < 0.4:
            for _ in range(self._random.choice((1, 1, 2, 4, 16))):
                data = self._random.choice(self._byte_changes)(data, pool)
        return data[:MAX_BYTES]

    def _json(self, data: bytes, pool: Sequence[bytes]) -> bytes | None:
        try:
            tree = json.loads(data)
            other = json.loads(self._random.choice(pool))
            for _ in range(self._random.choice((1, 1, 1, 2, 3, 8))):
                tree = self._change(tree, other)
            text = json.dumps(tree, ensure_ascii=self._random.random() < 0.5).encode(errors="surrogatepass")
            return re.sub(rb'"@(\d+)@"', lambda found: RAW[int(found[1]) % len(RAW)], text)
        except (ValueError, RecursionError, MemoryError):  # repeated changes can make a tree of gigabytes
            return None

    def _change(self, value: Any, other: Any, depth: int = 0) -> Any:
        """A copy of `value` with one change somewhere in it."""
        if isinstance(value, (dict, list)) and value and self._random.random() < 0.85 and depth < 30:
            place = self._random.choice(list(value) if isinstance(value, dict) else range(len(value)))
            copy: Any = dict(value) if isinstance(value, dict) else list(value)
            action = self._random.random()
            if action < 0.08:
                del copy[place]
            elif action < 0.16 and isinstance(copy, dict):
                copy[self._text(str(place))] = copy.pop(place)
            elif action < 0.16:
                copy[place:place] = [copy[place]] * self._random.choice((1, 2, 50, 1000))
            elif action < 0.2 and isinstance(copy, dict):
                copy |= {f"{place}{number}": copy[place] for number in range(self._random.choice((1, 20, 300)))}
            else:
                copy[place] = self._change(value[place], other, depth + 1)
            return copy
        if self._random.random() < 0.25:
            return self._inner(other)
        if isinstance(value, str) and self._random.random() < 0.6:
            return self._text(value)
        if isinstance(value, (int, float)) and self._random.random() < 0.4:
            return self._random.choice(
                (value + 1, -value, value * 10**6, str(value), float(value) if abs(value) < 10**300 else 0)
            )
        return self._random.choice([*VALUES, *self._tokens])

    def _inner(self, value: Any) -> Any:
        while isinstance(value, (dict, list)) and value and self._random.random() < 0.8:
            value = self._random.choice(list(value.values()) if isinstance(value, dict) else value)
        return value

    def _text(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        own = self._tokens and self._random.random() < 0.4
        new = self._random.choice(self._tokens if own else [*TEXTS, text])
        return self._random.choice((new, text[:at] + new + text[at:], text[at:], text[:at], new * 3, text * 50))[
            :MAX_BYTES
        ]

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._random.randrange(len(data) + 1)
        return start, min(len(data), start + self._random.choice((1, 1, 2, 4, 16, 64, 1024)))

    def _flip(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        if not data:
            return b"\0"
        at = self._random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << self._random.randrange(8))]) + data[at + 1 :]

    def _cut(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        start, end = self._span(data)
        count = min(self._random.choice((1, 3, 100, 5000, 50_000)), MAX_BYTES // max(1, end - start))
        return data[:end] + data[start:end] * count + data[end:]

    def _insert(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        at = self._random.randrange(len(data) + 1)
        return data[:at] + self._token() + data[at:]

    def _overwrite(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._token() + data[end:]

    def _splice(self, data: bytes, pool: Sequence[bytes]) -> bytes:
        other = self._random.choice(pool)
        return data[: self._random.randrange(len(data) + 1)] + other[self._random.randrange(len(other) + 1) :]

    def _token(self) -> bytes:
        if self._random.random() < 0.3:
            return self._random.choice(BYTES)
        own = self._tokens and self._random.random() < 0.5
        return self._random.choice(self._tokens if own else TEXTS).encode(errors="surrogatepass")
