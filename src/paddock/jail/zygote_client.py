"""The host's end of one warden and its zygotes: starts them, orders guests, notices their death."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from paddock.errors import EngineCrashed, JailUnavailable, PaddockError
from paddock.jail.guest import Epoll, Guest, Template
from paddock.jail.limits import ResourceLimit
from paddock.jail.start import warden_command
from paddock.jail.walls.namespaces import Identities, give_identities
from paddock.jail.zygote import Order, Spec, command

MESSAGE_BYTES = 64 * 1024
GUEST_FDS = 5
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  inside
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Thread pools do not survive fork().
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(slots=True)
class Ordered:
    """A guest that was ordered. `came` is settled when it is there and has something to say."""

    uid: int
    template: Template
    resource_limit: ResourceLimit
    came: asyncio.Future[None]
    guest: Guest | None = None


class WarmZygote:
    """The host's view of one warm zygote: `ready` when it has loaded, `gone` when it has ended."""

    def __init__(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.number = number
        self.ready: asyncio.Future[None] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()

    def end(self, why: str) -> None:
        if not self.ready.done():
            self.ready.set_exception(EngineCrashed(f"the zygote could not be started: {why}"))
            self.ready.exception()  # marks it as seen: whoever waited may be gone
        if not self.gone.done():
            self.gone.set_result(None)


class ZygoteClient:
    """One warden with its zygotes, from its start to its end."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket, spec: Spec) -> None:
        self.profile = spec.profile
        self._traced = spec.trace
        self._process = process
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._ordered: dict[int, Ordered] = {}
        self._numbers = 0
        self._warm: WarmZygote | None = None
        self._epoll = Epoll()
        self.died = self._loop.create_future()
        self._told: asyncio.Queue[dict[str, object] | bytes] = asyncio.Queue()
        self._loop.add_reader(control.fileno(), self._hear)

    @classmethod
    async def start(cls, python: str, spec: Spec, identities: Identities | None) -> ZygoteClient:
        """Start a warden, and wait until its first zygote serves. JailUnavailable: the profile does not work here."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # In this thread: the kernel kills the warden when the thread that started it ends.
        process = subprocess.Popen(  # noqa: ASYNC220
            warden_command(python, its.fileno()),
            pass_fds=[its.fileno()],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        its.close()
        ours.setblocking(False)
        try:
            client = cls(process, ours, spec)
        except OSError:  # no descriptor is free
            ours.close()
            process.kill()
            await asyncio.to_thread(process.wait)
            raise
        try:
            await client._begin(spec, identities)
        except BaseException:
            await client.close()
            raise
        return client

    async def _begin(self, spec: Spec, identities: Identities | None) -> None:
        self._control.send(spec.to_bytes())
        while True:
            told = await self._told.get()
            if told == b"map" and identities is not None:
                try:
                    give_identities(self._process.pid, identities)
                except OSError as problem:
                    raise JailUnavailable(f"ids could not be mapped into a user namespace: {problem}") from None
                self._control.send(b"1")
            elif isinstance(told, dict) and "serving" in told:
                return
            elif isinstance(told, dict) and "no_walls" in told:
                raise JailUnavailable(str(told["no_walls"]))
            else:
                why = told.get("failed") if isinstance(told, dict) else "it ended at once"
                raise EngineCrashed(f"the zygote could not be started: {why}")

    async def load(self, template: Template) -> asyncio.Future[None]:
        """Wait until the zygote of `template` serves; start it if there is none. EngineCrashed says why it could not.

        The returned future is done when that zygote is gone.
        """
        if template == "bare":
            return self.died
        if self.died.done():
            raise EngineCrashed("the zygote has died")
        if self._warm is None or self._warm.gone.done():
            self._numbers += 1
            self._warm = WarmZygote(self._numbers, self._loop)
            self._command(load=self._warm.number)
        warm = self._warm
        await asyncio.shield(warm.ready)
        return warm.gone

    def serves(self, template: Template) -> bool:
        """Whether the zygote of `template` is there and has loaded."""
        if self.died.done() or template == "bare":
            return not self.died.done()
        return self._warm is not None and self._warm.ready.done() and not self._warm.gone.done()

    def unload(self, template: Template) -> None:
        """End the zygote of `template`, which must have no guest. The first one, which is bare, stays."""
        if template == "warm" and self._warm is not None:
            self._command(unload=self._warm.number)
            self._warm.end("it was ended")
            self._warm = None

    def _command(self, **values: int) -> None:
        with suppress(OSError):  # a warden that is gone is noticed elsewhere
            self._control.send(command(**values))

    async def guest(
        self,
        *,
        uid: int,
        processes: bool,
        resource_limit: ResourceLimit,
        hurry: bool = False,
        template: Template = "bare",
    ) -> Guest:
        """Order a guest and wait until it is walled in. The zygote of its template must have been loaded."""
        if self.died.done():
            raise EngineCrashed("the zygote has died")
        self._numbers += 1
        order = Order(self._numbers, uid, processes, hurry, warm=template == "warm")
        ordered = self._ordered[order.number] = Ordered(uid, template, resource_limit, self._loop.create_future())
        try:
            socket.send_fds(self._control, [order.to_bytes()], resource_limit.doors())
        except ConnectionError:
            self._ordered.pop(order.number, None)
            self._die()
            raise EngineCrashed("the zygote has died") from None
        except OSError as problem:
            self._ordered.pop(order.number, None)
            raise JailUnavailable(f"a guest could not be ordered: {problem}") from None
        try:
            await ordered.came
            guest = cast("Guest", ordered.guest)
            await guest.walled_in()
        except BaseException:
            if ordered.guest is not None:
                await ordered.guest.end()
            raise
        return guest

    def _hear(self) -> None:
        try:
            message, fds, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 8)
        except BlockingIOError:
            return
        except ConnectionError:
            message, fds = b"", []
        if not message:
            self._die()
            return
        told = message if message == b"map" else json.loads(message)
        number = None if isinstance(told, bytes) else told.get("forked") or told.get("unmade")
        if isinstance(told, bytes):
            self._told.put_nowait(told)
        elif number is None and ("loaded" in told or "lost" in told):
            self._hear_of_warm(told)
        elif number is None:
            self._told.put_nowait(told)
        elif "unmade" in told:
            problem = EngineCrashed if told.get("lost") else JailUnavailable
            self._refuse(self._ordered.pop(number), problem(f"a guest could not be made: {told['why']}"), fds)
        elif len(fds) < GUEST_FDS:
            self._dismiss(number, "this process has too many files open", fds)
        else:
            self._give(number, fds)

    def _hear_of_warm(self, told: dict[str, object]) -> None:
        warm = self._warm
        if warm is None or warm.number not in (told.get("loaded"), told.get("lost")):
            return  # about a zygote that was ended meanwhile
        if "lost" in told:
            warm.end(str(told["why"]))
        elif not warm.ready.done():
            warm.ready.set_result(None)

    def _give(self, number: int, fds: list[int]) -> None:
        ordered = self._ordered[number]
        try:
            ordered.guest = Guest(
                ordered.uid,
                ordered.template,
                fds,
                ordered.resource_limit,
                self._epoll,
                ordered.came,
                has_namespaces=self.profile == "namespaces",
                traced=self._traced,
            )
        except OSError as problem:
            self._dismiss(number, str(problem), fds)
            return
        del self._ordered[number]
        if ordered.came.done():  # nobody waits for it any more
            ordered.guest.end()

    def _dismiss(self, number: int, why: str, fds: list[int]) -> None:
        """Give up a guest that exists and cannot be used. It ends when its sockets close; its reaper must be told."""
        with suppress(OSError):
            self._control.send(command(dismiss=number))
        self._refuse(self._ordered.pop(number), JailUnavailable(f"a guest could not be made: {why}"), fds)

    def _refuse(self, ordered: Ordered, problem: PaddockError, fds: list[int]) -> None:
        for fd in fds:
            os.close(fd)
        if not ordered.came.done():
            ordered.came.set_exception(problem)

    def _die(self) -> None:
        """Note the death of the warden, and tell everyone who waits for a guest."""
        self._loop.remove_reader(self._control.fileno())
        self._told.put_nowait(b"")
        for ordered in self._ordered.values():
            if not ordered.came.done():
                ordered.came.set_exception(EngineCrashed("the zygote has died"))
        self._ordered.clear()
        if self._warm is not None:
            self._warm.end("the warden has died")
        if not self.died.done():
            self.died.set_result(None)

    async def close(self) -> None:
        """Kill the warden, and with it every zygote and guest."""
        if self._control.fileno() < 0:
            return
        self._die()
        with suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.to_thread(self._process.wait)
        if self._control.fileno() >= 0:  # another task may have closed it meanwhile
            self._control.close()
            self._epoll.release()
