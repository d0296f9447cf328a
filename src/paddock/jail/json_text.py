"""Whether what a guest calls JSON is JSON, without decoding it: it is spliced into texts of the host's own."""

from __future__ import annotations

import json
import re

import msgspec

DEEP_BYTES = 64 * 1024
"""What is nested more deeply than the decoder follows is checked slowly, and must not be longer than this."""
LONGEST_NUMBER = 4300  # digits that Python converts, by default
_passed_over = msgspec.json.Decoder(msgspec.Raw).decode  # 2 ms for a megabyte
# A text that is never closed is one too: to look for its end again from each quote in it would take for ever.
_PART = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[\[\]{}]', re.DOTALL)
_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)


def check(text: bytes) -> None:
    """ValueError, or one of msgspec's: it is not one JSON value that Python can decode."""
    try:
        _passed_over(text)
    except RecursionError:
        if len(text) > DEEP_BYTES:
            raise ValueError(f"the result is nested too deeply for {len(text)} bytes") from None
        _check_deep(text)
    if b"0" * (LONGEST_NUMBER + 1) in text.translate(_ALL_DIGITS_ZERO):
        _check_numbers(text)


def _check_deep(text: bytes) -> None:
    """Check each list and object by itself, with `null` in the place of those inside it."""
    open_parts: list[list[bytes]] = [[]]
    at = 0
    for found in _PART.finditer(text):
        part = found[0]
        if part[:1] == b'"' and not found[1]:
            raise ValueError("a text of the result has no end")
        open_parts[-1].append(text[at : found.start()])
        at = found.end()
        if part in (b"[", b"{"):
            open_parts.append([part])
        elif part in (b"]", b"}") and len(open_parts) > 1:
            _passed_over(b"".join([*open_parts.pop(), part]))
            open_parts[-1].append(b"null")
        else:
            open_parts[-1].append(part)
    if len(open_parts) > 1:
        raise ValueError("a list or an object of the result has no end")
    _passed_over(b"".join([*open_parts[0], text[at:]]))


def _check_numbers(text: bytes) -> None:
    """The digits may be those of a text: only decoding tells."""
    try:
        json.loads(text)
    except RecursionError:
        for found in _PART.sub(b" ", text).split():
            if len(found) > LONGEST_NUMBER:
                raise ValueError("a number of the result is too long") from None
