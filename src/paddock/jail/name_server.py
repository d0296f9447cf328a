"""The name server of a guest with a network policy: the host answers for it, over UDP and over streams.

It resolves a name that the policy allows as the host does, and remembers the addresses: the run may connect to them.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from paddock.jail import dns
from paddock.jail.network_run import MAX_NAMES, NetworkRun
from paddock.model.network import Address, normalize_name

RESOLVE_SECONDS, STREAM_SECONDS = 10.0, 30.0
LOOKUPS, FIRST_LOOKUPS, GUEST_LOOKUPS = 32, 256, 4
"""How many names are resolved at the same time: for all guests together, the first of each guest, and for one guest.

Each takes a thread until it ends, which may be long after the guest has ended."""
_free_threads, _free_first_threads = threading.BoundedSemaphore(LOOKUPS), threading.BoundedSemaphore(FIRST_LOOKUPS)


class NameServer:
    """Answers the queries of one guest. `run` is its run; without one there are no names."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self.socket = socket.socket(fileno=fd)
        self.run: NetworkRun | None = None
        self._loop = loop
        self._free_lookups = asyncio.Semaphore(GUEST_LOOKUPS)
        self._has_first = False  # one of its lookups has a thread that others cannot take
        self.lookups: set[asyncio.Task[tuple[Address, ...]]] = set()

    def receive(self) -> Coroutine[Any, Any, None] | None:
        """Read one query. Returns the work to answer it, or None if it is not one."""
        try:
            data, sender = self.socket.recvfrom(dns.MESSAGE_BYTES + 1)
        except OSError:
            return None
        query = dns.parse_query(data)
        return None if query is None else self._answer(query, sender)

    async def _answer(self, query: dns.Query, sender: tuple[str, int]) -> None:
        answer = await self._resolve(query)
        with suppress(OSError):
            self.socket.sendto(answer, sender)

    async def serve(self, stream: socket.socket) -> None:
        """Answer one query on a stream, and close it."""
        with stream, suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_unix_connection(sock=stream, limit=dns.MESSAGE_BYTES)
            try:
                async with asyncio.timeout(STREAM_SECONDS):
                    size = int.from_bytes(await reader.readexactly(2))
                    query = dns.parse_query(await reader.readexactly(min(size, dns.MESSAGE_BYTES)))
                    answer = b"" if query is None else await self._resolve(query)
                    writer.write(len(answer).to_bytes(2) + answer)
                    await writer.drain()
            finally:
                writer.close()

    async def _resolve(self, query: dns.Query) -> bytes:
        run, name = self.run, normalize_name(query.name)
        if run is None or name is None:
            return dns.make_answer(query, dns.NO_NAME)
        if not run.policy.allows_name(name):
            run.deny(name)
            return dns.make_answer(query, dns.NO_NAME)
        if name not in run.resolved:
            if len(run.resolved) >= MAX_NAMES:
                return dns.make_answer(query, dns.FAILED)
            task = self._loop.create_task(self._look_up(run, name))
            self.lookups.add(task)
            task.add_done_callback(self._forget)
            run.resolved[name] = task
        try:
            found = await asyncio.shield(run.resolved[name])
        except (OSError, TimeoutError):
            run.resolved.pop(name, None)  # the next query tries again
            return dns.make_answer(query, dns.FAILED)
        return dns.make_answer(query, dns.NO_ERROR if found else dns.NO_NAME, found)

    def _forget(self, task: asyncio.Task[tuple[Address, ...]]) -> None:
        self.lookups.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: whoever asked may be gone

    async def _look_up(self, run: NetworkRun, name: str) -> tuple[Address, ...]:
        """The addresses of a name that the policy lets the guest reach. The guest may connect to them in this run."""
        async with asyncio.timeout(RESOLVE_SECONDS):
            await self._free_lookups.acquire()
            addresses = await self._start_thread(name)
        allowed = tuple(each for each in addresses if run.policy.may_reach(each))
        for address in allowed:
            run.names[address].add(name)
        if addresses and not allowed:
            run.deny(name, addresses[0])
        return allowed

    def _start_thread(self, name: str) -> asyncio.Future[list[Address]]:
        """Resolve a name in a thread, which gives its place back when it ends: nothing can end it before."""
        future: asyncio.Future[list[Address]] = self._loop.create_future()
        is_first, self._has_first = not self._has_first, True
        threads = _free_first_threads if is_first else _free_threads

        def settle(found: list[Address] | OSError) -> None:
            self._free_lookups.release()
            if is_first:
                self._has_first = False
            if future.done():
                return
            if isinstance(found, OSError):
                future.set_exception(found)
            else:
                future.set_result(found)

        def resolve() -> None:
            try:
                found: list[Address] | OSError = look_up(name)
            except OSError as problem:
                found = problem
            finally:
                threads.release()
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(settle, found)

        if not threads.acquire(blocking=False):
            settle(OSError("too many names are being resolved"))
            return future
        try:
            threading.Thread(target=resolve, name="paddock-lookup", daemon=True).start()
        except RuntimeError as problem:  # no thread is free
            threads.release()
            settle(OSError(str(problem)))
        return future


def look_up(name: str) -> list[Address]:
    """The addresses of a name, as this host resolves it; empty if there is no such name. Raises OSError."""
    try:
        # The final dot keeps the host's search domains out.
        found = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except UnicodeError:
        return []
    except socket.gaierror as problem:
        if problem.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return []
        raise
    texts = dict.fromkeys(str(entry[4][0]) for entry in found)
    v4 = [each for text in texts if isinstance(each := ip_address(text), IPv4Address)]
    v6 = [each for text in texts if isinstance(each := ip_address(text), IPv6Address)]
    return [*v4[: dns.MAX_ADDRESSES], *v6[: dns.MAX_ADDRESSES]]
