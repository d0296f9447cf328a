"""TypeScript made JavaScript, by Node in a jail: types are blanked out, so that lines and columns stay.

One guest answers many requests. What it reads is hostile, so it is replaced when it hangs, dies, or has answered many.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import msgspec

from paddock.jail.guest import Guest
from paddock.jail.inbox import Ended, Inbox
from paddock.jail.jail import Jail
from paddock.jail.wire import BODY_BYTES, Kind, WireError, pack
from paddock.model.events import Finished
from paddock.model.limits import Limits
from paddock.model.result import Verdict

LIMITS = Limits()
REQUEST_SECONDS = 10.0
REQUESTS = 1000
CACHED = 128
CACHED_CHARACTERS = 64 * 1024
"""Of a script that is remembered."""
UNREADABLE = "this TypeScript could not be read: it is nested too deeply, or too large"


class Stripped(msgspec.Struct, frozen=True, dict=True):
    """A script without types. `map` is None where everything stayed in its place."""

    code: str
    map: list[list[tuple[int, int, int]]] | None = None
    """For each line, in order: a column, and the line and column that the author wrote there. All count from 0."""

    def original(self, line: int, column: int) -> tuple[int, int]:
        """Line and column, from 1, in what the author wrote."""
        place = bisect_right(self._filled, line - 1) - 1
        if self.map is None or place < 0:
            return line, column
        at = self._filled[place]
        start = column - 1 if at == line - 1 else 1 << 31
        segments = self.map[at]
        found = segments[max(0, bisect_right(segments, start, key=lambda segment: segment[0]) - 1)]
        return found[1] + 1, found[2] + 1

    @cached_property
    def _filled(self) -> list[int]:
        """The lines that have something of the author's."""
        return [number for number, segments in enumerate(self.map or ()) if segments]


_decode = msgspec.json.Decoder(Stripped).decode


@dataclass(slots=True)
class Helper:
    """The guest that answers."""

    guest: Guest
    inbox: Inbox
    requests: int = 0


class TypeScript:
    """Strips scripts, one at a time; guests come from `jail`, which stays its owner's."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._turn = asyncio.Lock()
        self._helper: Helper | None = None
        self._cache: OrderedDict[str, Stripped] = OrderedDict()

    async def strip(self, code: str) -> Stripped | Finished:
        """The script as JavaScript, or the end of the run: it has no meaning."""
        if code in self._cache:
            self._cache.move_to_end(code)
            return self._cache[code]
        async with self._turn:
            helper = await self._ready()
            try:
                ended = await _asked(helper, code)
            except BaseException:
                self.close()
                raise
        if ended is None or (ended.status != "ok" and ended.type != "SyntaxError"):
            self.close()  # whatever state it is in now
            return Finished(Verdict.REJECTED, error_type="SyntaxError", error_message=UNREADABLE)
        if ended.status != "ok":
            return Finished(
                Verdict.REJECTED,
                error_type=ended.type,
                error_message=ended.message,
                line=ended.line,
                column=ended.column,
                traceback=ended.traceback,
            )
        stripped = _decode(ended.output_json or "")
        if len(code) <= CACHED_CHARACTERS:
            self._cache[code] = stripped
            if len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        return stripped

    async def _ready(self) -> Helper:
        if self._helper is not None and (self._helper.requests >= REQUESTS or not self._helper.guest.is_waiting()):
            self.close()
        if self._helper is None:
            guest = await self._jail.take()
            guest.limit(LIMITS)
            guest.send(pack(Kind.START, body=b'{"mode": "strip"}'))
            self._helper = Helper(guest, Inbox(BODY_BYTES))
        return self._helper

    def close(self) -> None:
        """Let go of the guest; the next request gets another one."""
        if self._helper is not None:
            self._jail.give_back(self._helper.guest)
            self._helper = None


async def _asked(helper: Helper, code: str) -> Ended | None:
    """The helper's answer; None where there is none: it took too long, or died."""
    guest = helper.guest
    helper.requests += 1
    guest.send(pack(Kind.CODE, helper.requests, body=code.encode()))
    until = time.monotonic() + REQUEST_SECONDS
    while (left := until - time.monotonic()) > 0:
        await guest.something(left)
        while data := guest.read_control():
            helper.inbox.add(data)
        try:
            for message in helper.inbox.messages():
                return message if isinstance(message, Ended) else None
        except WireError:
            return None
        if data == b"":
            return None
    return None
