"""The thread that serves all guests with a network waits for none of them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable

import pytest

from paddock import Paddock
from paddock.config import Config, GuestsConfig, JailConfig
from paddock.jail import supervisor
from paddock.model.environments import EnvironmentConfig
from tests.uids import OWN

CONNECT = """
import socket
try:
    socket.create_connection(('127.0.0.1', {port}))
except OSError as problem:
    found = type(problem).__name__
found
"""


def connect(paddock: Paddock, port: int) -> asyncio.Task[str]:
    async def run() -> str:
        result = await paddock.run(CONNECT.format(port=port), network="public", engine="cpython")
        return str(result.output or result)

    return asyncio.create_task(run())


async def test_a_guest_whose_memory_takes_long_to_read_holds_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    began, ends = threading.Event(), threading.Event()
    read: Callable[[int, int, int], bytes] = os.pread

    def read_slowly(fd: int, size: int, offset: int) -> bytes:
        found = read(fd, size, offset)
        if found[2:4] == b"\0\1":  # a guest that connects to port 1 holds its lock
            began.set()
            assert ends.wait(60)
        return found

    monkeypatch.setattr(os, "pread", read_slowly)
    monkeypatch.setattr(supervisor, "SLOW_SECONDS", 0.0)  # every call is one that took long
    guests = GuestsConfig(environment="bare")
    config = Config(environments={"bare": EnvironmentConfig()}, cpython=guests, jail=JailConfig(uid_base=OWN))
    async with Paddock(config) as paddock:
        assert await connect(paddock, 2) == "ConnectionRefusedError"
        slow = connect(paddock, 1)
        await asyncio.to_thread(began.wait, 60)
        assert await connect(paddock, 2) == "ConnectionRefusedError"
        assert not slow.done()
        ends.set()
        assert await slow == "ConnectionRefusedError"
