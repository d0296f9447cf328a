"""The thread that serves all guests with a network waits for none of them."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from ipaddress import IPv4Address

import pytest

from paddock import Output, Paddock
from paddock.config import Config, GuestsConfig, JailConfig, NetworkConfig
from paddock.jail import doors, supervisor
from paddock.jail.network_run import Attempt, NetworkRun
from paddock.jail.sock_diag import Connected, Counter
from paddock.model.environments import EnvironmentConfig
from paddock.model.network import NetworkPolicy
from tests.uids import OWN

CONNECT = """
import socket
try:
    socket.create_connection(('127.0.0.1', {port}))
except OSError as problem:
    found = type(problem).__name__
found
"""

LOOK = """
import ctypes, fcntl, mmap, os, socket, struct, threading
from paddock.jail import doors
from paddock.jail.walls.syscalls import syscall
faults = syscall('userfaultfd', os.O_CLOEXEC)
fcntl.ioctl(faults, 0xC018AA3F, struct.pack('=QQQ', 0xAA, 0, 0))  # UFFDIO_API
page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
fcntl.ioctl(faults, 0xC020AA00, struct.pack('=QQQQ', at, mmap.PAGESIZE, 1, 0))  # UFFDIO_REGISTER
with socket.create_server(('127.0.0.1', 0)) as server:
    here = socket.create_connection(server.getsockname())
    there, _ = server.accept()
there.send(b'x')
receiving = threading.Thread(target=here.recv_into, args=(page,))
receiving.start()
os.read(faults, 32)  # the receiver waits for its page, and has locked the connection
looks = [threading.Thread(target=look, args=(here.fileno(),)) for look in (doors._tcp_state, doors._was_connected)]
for each in looks: each.start()
print('other threads run while', sum(each.is_alive() for each in looks), 'wait')
os.close(faults)
for each in (receiving, *looks): each.join()
"""
"""Receives on a connection, into memory that is not there until `faults` is closed."""


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


async def test_a_guest_whose_connection_takes_long_to_count_holds_up_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, ends = threading.Event(), threading.Event()
    waited: list[bool] = []
    count: Callable[[Counter, Connected], int | None] = Counter.count

    def count_slowly(counter: Counter, connected: Connected) -> int | None:  # the guest holds the lock of its socket
        began.set()
        waited.append(ends.wait(30))
        return count(counter, connected)

    monkeypatch.setattr(Counter, "count", count_slowly)
    guests = GuestsConfig(environment="bare")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        config = Config(
            environments={"bare": EnvironmentConfig()},
            cpython=guests,
            jail=JailConfig(uid_base=OWN),
            network=NetworkConfig(private=(address,)),
        )
        stays = f"import socket\nkept = socket.create_connection({server.getsockname()!r})\nlen(kept.recv(1))"
        async with Paddock(config) as paddock:
            slow = asyncio.create_task(paddock.run(stays, network=[address], engine="cpython"))
            assert await asyncio.to_thread(began.wait, 60)
            assert await connect(paddock, 2) == "ConnectionRefusedError"
            assert waited == []
            ends.set()
            server.accept()[0].close()
            assert (await slow).output == 0


def test_connections_that_cannot_be_counted_for_lack_of_descriptors_are_not_taken_for_ended() -> None:
    run = NetworkRun(NetworkPolicy(is_public=True), max_connections=10, memory_bytes=1 << 20)
    shared = supervisor.Supervisor.share()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as here:
        shared.begin_counting(run, None)
        attempt = Attempt("", IPv4Address("127.0.0.1"), server.getsockname()[1], "connected")
        assert shared.add_connection(run, here, attempt)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (1, before[1]))
        try:
            for _ in range(3):
                shared.count(run)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert run.uncounted == 0
        shared.forget(run)
    shared.release()


async def test_a_guest_that_uses_a_connection_as_soon_as_it_is_made_holds_up_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, ends = threading.Event(), threading.Event()
    waited: list[bool] = []
    was_connected: Callable[[int], bool] = doors._was_connected

    def look_slowly(fd: int) -> bool:  # the guest holds the lock of its socket
        began.set()
        waited.append(ends.wait(30))
        return was_connected(fd)

    monkeypatch.setattr(doors, "_was_connected", look_slowly)
    monkeypatch.setattr(supervisor, "SLOW_SECONDS", 0.0)  # every call is one that took long
    guests = GuestsConfig(environment="bare")
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, socket.create_connection(server.getsockname()):
        address = f"127.0.0.1:{server.getsockname()[1]}"
        config = Config(
            environments={"bare": EnvironmentConfig()},
            cpython=guests,
            jail=JailConfig(uid_base=OWN),
            network=NetworkConfig(private=(address,)),
        )
        script = f"""
import select, socket
here = socket.socket()
here.setblocking(False)
here.connect_ex({server.getsockname()!r})
print('asked', flush=True)
select.select([], [here], [])
here.setblocking(True)
len(here.recv(1))
"""

        async def run_slowly(paddock: Paddock) -> None:
            async for event in paddock.stream(script, network=[address], engine="cpython"):
                if isinstance(event, Output):
                    server.accept()[0].close()  # the queue was full: the connection is made when the kernel asks again

        async with Paddock(config) as paddock:
            slow = asyncio.create_task(run_slowly(paddock))
            assert await asyncio.to_thread(began.wait, 60)
            assert await connect(paddock, 2) == "ConnectionRefusedError"
            assert waited == []
            ends.set()
            server.accept()[0].close()
            await slow


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may wait for page faults of the kernel")
def test_a_look_at_a_connection_that_its_guest_is_using_lets_other_threads_run() -> None:
    told = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=30, check=False)
    assert (told.stdout, told.stderr) == ("other threads run while 2 wait\n", "")
