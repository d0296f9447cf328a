"""A guest that says what it is told to: the real engine reads its frames and streams, without a process behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from paddock.engines.base import Interpreter
from paddock.engines.jailed import JailedExecution
from paddock.engines.node import NodeExecution
from paddock.errors import RequestError
from paddock.jail.guest import READ_BYTES, Guest, Report
from paddock.jail.limits import ResourceLimit
from paddock.planning.plan import Plan


class SaidLimit(ResourceLimit):
    """The limit of a guest that is only said: nothing has to be enforced."""

    def limit(self, *_: Any, **options: Any) -> None: ...


class SaidGuest:
    """The part of a `Guest` that an execution uses."""

    pid, is_behind, has_full_queue = 0, False, False

    def __init__(self, control: bytes, streams: dict[str, bytes], status: int | None) -> None:
        self._control, self._streams, self._status = control, dict(streams), status
        self.resource_limit = SaidLimit()

    def limit(self, *_: Any, **options: Any) -> None: ...

    def send(self, data: bytes) -> None: ...

    def wake(self) -> None: ...

    def kill(self) -> None: ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def is_out_of_memory(self) -> bool:
        return False

    async def wait_for_input(self, within_seconds: float | None = None) -> None:
        await asyncio.sleep(0)

    def usage(self) -> tuple[float | None, int | None]:
        return 0.0, 0

    def read(self, stream: str) -> bytes:
        data, self._streams[stream] = self._streams[stream][:READ_BYTES], self._streams[stream][READ_BYTES:]
        return data

    def read_control(self, most: int = READ_BYTES) -> bytes | None:
        data, self._control = self._control[:most], self._control[most:]
        return data

    def report(self) -> Report | None:
        if self._status is None:
            raise LookupError("the zygote is gone")
        return Report(self._status, 0.0)


class SayingEngine:
    """An engine each of whose guests says `control` and `streams`, and then ends with `status`."""

    grace_seconds = 0.0

    def __init__(self) -> None:
        self.control, self.streams, self.status = b"", {"stdout": b"", "stderr": b""}, cast("int | None", 0)

    async def start(self) -> None: ...

    async def network_problem(self) -> str | None:
        return None

    async def prepare(self, plan: Plan, show: Callable[[str], None], principal: str) -> Plan:
        return plan

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[JailedExecution]:
        guest = cast("Guest", SaidGuest(self.control, self.streams, self.status))
        if plan.engine == "node":
            yield NodeExecution(guest, plan, may_fork=False, tmp_bytes=0)
        else:
            yield JailedExecution(guest, plan)

    async def interpreter(self, plan: Plan) -> Interpreter:
        raise RequestError("the test double has no sessions")

    def waiting_guests(self) -> dict[tuple[str, str], int]:
        return {}

    async def close(self) -> None: ...
