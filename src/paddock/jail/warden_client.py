"""The host's side of one warden: starts it and its zygotes, orders guests, notices when they die."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from paddock.errors import EngineCrashed, JailUnavailable, PaddockError
from paddock.jail.entry_point import warden_command
from paddock.jail.guest import Epoll, Guest, Template
from paddock.jail.limits import ResourceLimit
from paddock.jail.uid_block import UidBlock
from paddock.jail.walls import own_network
from paddock.jail.walls.namespaces import Identities, give_identities
from paddock.jail.walls.shortage import NOT_READY, oom_kills
from paddock.jail.zygote import MOVED, Order, Spec, encode_command

MESSAGE_BYTES = 64 * 1024
GUEST_FDS = 5
READY_SECONDS = 60.0
"""How long a new process may take until it is a guest. Node waits forever if it cannot start all of its threads."""
MOVE_SECONDS = 10
"""How long moving a process to a control group may take before its jail is ended."""
_DIED = "the zygote has died"
GUEST_VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  in the jail
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Thread pools do not survive fork().
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""The environment variables of guests. Node keeps some of them, `confined` adds others."""

NO_HOME = "/nonexistent"


def _guest_variables(spec: Spec) -> dict[str, str]:
    """The variables of guests of an environment. Its programs are found before those of the system.

    In `confined`, preloads are imported where the host's /tmp is, and read no settings that others left there.
    """
    path = os.pathsep.join([os.path.dirname(spec.python), GUEST_VARIABLES["PATH"]])  # noqa: PTH120  a link stays a link
    bundle = own_network.find_bundle() if spec.network else None
    authorities = {} if bundle is None else dict.fromkeys(own_network.BUNDLE_VARIABLES, bundle)
    home = {"HOME": NO_HOME} if spec.profile == "confined" else {}
    return GUEST_VARIABLES | authorities | home | {"PATH": path, "PYTHONHASHSEED": spec.hash_seed}


@dataclass(slots=True)
class PendingGuest:
    """A guest that was ordered. `arrived` is settled when the guest exists and its first input has arrived."""

    uid: int
    template: Template
    resource_limit: ResourceLimit
    arrived: asyncio.Future[None]
    clock: asyncio.Timeout
    guest: Guest | None = None


class WarmZygote:
    """The host's view of one warm zygote. `ready` is done when it has loaded, `gone` when it has ended."""

    def __init__(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.number = number
        self.ready: asyncio.Future[None] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()

    def end(self, why: str) -> None:
        if not self.ready.done():
            self.ready.set_exception(EngineCrashed(f"the zygote could not be started: {why}"))
            self.ready.exception()  # marks it as retrieved, in case nobody waits for it
        if not self.gone.done():
            self.gone.set_result(None)


class Mover:
    """A process of the warden in a guest's pid namespace, which moves one process there to control groups.

    In the host's pid namespace, the number of a process that has just ended may name any other process.
    """

    def __init__(self, channel: socket.socket, guest: Guest) -> None:
        self._channel, self._guest = channel, guest

    async def move(self, pid: int) -> bool:
        """Move the process that has this pid in the jail. Returns whether there was one, when it can no longer move."""
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            self._channel.send(str(pid).encode())
            try:
                async with asyncio.timeout(MOVE_SECONDS):
                    return await loop.sock_recv(self._channel, 1) == MOVED
            except TimeoutError:
                self._guest.kill()  # an ordinary user's guest may have stopped the mover, and could continue it later
                return await loop.sock_recv(self._channel, 1) == MOVED
        return False

    def close(self) -> None:
        """End the mover if it still waits for a pid."""
        self._channel.close()


class WardenClient:
    """One warden with its zygotes, from its start to its end."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket, spec: Spec) -> None:
        self.profile = spec.profile
        self.uid_block: UidBlock | None = None  # released when all processes of the warden are gone
        self._traced, self._has_network = spec.trace, spec.network
        self._process = process
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._pending: dict[int, PendingGuest] = {}
        self._last_number = 0
        self._warm: WarmZygote | None = None
        self._oom_kills = oom_kills()  # when the last zygote was started
        self._epoll = Epoll()
        self.died = self._loop.create_future()
        self._messages: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self._loop.add_reader(control.fileno(), self._receive)

    @classmethod
    async def start(cls, spec: Spec, identities: Identities | None) -> WardenClient:
        """Start a warden and wait for its bare zygote. Raises JailUnavailable if the profile does not work here."""
        host_end, warden_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not in another thread: the kernel kills the warden when the thread that started it ends.
        process = subprocess.Popen(  # noqa: ASYNC220
            warden_command(spec.python, warden_end.fileno()),
            pass_fds=[warden_end.fileno()],
            env=_guest_variables(spec),
            cwd="/",  # preloads may read settings from where they are imported
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        warden_end.close()
        host_end.setblocking(False)
        try:
            client = cls(process, host_end, spec)
        except OSError:  # no descriptor is free
            host_end.close()
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
            message = await self._messages.get()
            if "map" in message and identities is not None:
                try:
                    give_identities(self._process.pid, identities)
                except OSError as problem:
                    raise JailUnavailable(f"ids could not be mapped into a user namespace: {problem}") from None
                self._control.send(b"1")
            elif "serving" in message:
                return
            elif "no_walls" in message:
                raise JailUnavailable(str(message["no_walls"]))
            else:
                why = self._add_lack_of_memory(str(message.get("failed", "the warden ended at once")))
                raise EngineCrashed(f"the zygote could not be started: {why}")

    async def load(self, template: Template) -> asyncio.Future[None]:
        """Start the zygote of `template` if necessary, and wait until it serves. Raises EngineCrashed if it cannot.

        Returns a future that is done when that zygote is gone.
        """
        if template == "bare":
            return self.died
        if self.died.done():
            raise EngineCrashed(_DIED)
        if self._warm is None or self._warm.gone.done():
            self._last_number += 1
            self._warm = WarmZygote(self._last_number, self._loop)
            self._oom_kills = oom_kills()
            self._command(load=self._warm.number)
        warm = self._warm
        await asyncio.shield(warm.ready)
        return warm.gone

    def serves(self, template: Template) -> bool:
        """Whether the zygote of `template` has loaded and is alive."""
        if self.died.done() or template == "bare":
            return not self.died.done()
        return self._warm is not None and self._warm.ready.done() and not self._warm.gone.done()

    def unload(self, template: Template) -> None:
        """End the warm zygote, which must have no guests. The bare one stays as long as the warden."""
        if template == "warm" and self._warm is not None:
            self._command(unload=self._warm.number)
            self._warm.end("it was ended")
            self._warm = None

    def _command(self, **values: int) -> None:
        with suppress(OSError):  # the death of the warden is noticed elsewhere
            self._control.send(encode_command(**values))

    async def guest(
        self,
        *,
        uid: int,
        processes: bool,
        resource_limit: ResourceLimit,
        is_urgent: bool = False,
        template: Template = "bare",
    ) -> Guest:
        """Order a guest and wait until it is walled in. Call `load` with its template first."""
        if self.died.done():
            raise EngineCrashed(_DIED)
        self._last_number += 1
        order = Order(self._last_number, uid, processes, is_urgent, warm=template == "warm")
        arrived, clock = self._loop.create_future(), asyncio.timeout(None)
        pending = self._pending[order.number] = PendingGuest(uid, template, resource_limit, arrived, clock)
        try:
            socket.send_fds(self._control, [order.to_bytes()], resource_limit.cgroup_fds())
        except ConnectionError:
            self._pending.pop(order.number, None)
            self._die()
            raise EngineCrashed(_DIED) from None
        except OSError as problem:
            self._pending.pop(order.number, None)
            raise JailUnavailable(f"a guest could not be ordered: {problem}") from None
        try:
            async with clock:
                await arrived
                guest = cast("Guest", pending.guest)
                await guest.wait_until_ready()
        except BaseException as problem:
            if pending.guest is not None:
                await pending.guest.end()
            if isinstance(problem, TimeoutError):
                raise JailUnavailable(NOT_READY) from None
            raise
        return guest

    def start_mover(self, guest: Guest, groups: list[int]) -> Mover:
        """Start a process in the jail of `guest` that can move another to the control groups behind `groups`."""
        host_end, mover_end = socket.socketpair()
        with mover_end:
            host_end.setblocking(False)
            try:
                fds = [guest.reaper, *groups, mover_end.fileno()]
                socket.send_fds(self._control, [encode_command(move=len(groups))], fds)
            except OSError as problem:
                host_end.close()
                raise JailUnavailable(f"no process could be started in a jail: {problem}") from None
        return Mover(host_end, guest)

    def _receive(self) -> None:
        """Handle one message of the warden."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 8)
        except BlockingIOError:
            return
        except ConnectionError:
            data, fds = b"", []
        if not data:
            self._die()
            return
        message = {"map": True} if data == b"map" else json.loads(data)
        number = message.get("forked") or message.get("not_forked")
        if number is None and ("loaded" in message or "lost" in message):
            self._note_warm(message)
        elif number is None:
            self._messages.put_nowait(message)
        elif "not_forked" in message:
            problem = EngineCrashed if message.get("lost") else JailUnavailable
            self._refuse(self._pending.pop(number), problem(f"a guest could not be created: {message['why']}"), fds)
        elif len(fds) < GUEST_FDS:
            self._dismiss(number, str(OSError(errno.EMFILE, os.strerror(errno.EMFILE))), fds)
        else:
            self._give(number, fds)

    def _note_warm(self, message: dict[str, object]) -> None:
        warm = self._warm
        if warm is None or warm.number not in (message.get("loaded"), message.get("lost")):
            return  # about a zygote that `unload` has ended
        if "lost" in message:
            warm.end(self._add_lack_of_memory(str(message["why"])))
        elif not warm.ready.done():
            warm.ready.set_result(None)

    def _add_lack_of_memory(self, why: str) -> str:
        """Add to `why` that memory may have run out: a process that the kernel kills cannot say so itself."""
        if oom_kills() == self._oom_kills:
            return why
        return (
            f"{why}; meanwhile the kernel killed a process because memory ran out: give more memory to this machine, "
            "or to the control group that Paddock runs in"
        )

    def _give(self, number: int, fds: list[int]) -> None:
        """Create a guest from its descriptors, and give it to the caller that ordered it."""
        pending = self._pending[number]
        try:
            pending.guest = Guest(
                pending.uid,
                pending.template,
                fds,
                pending.resource_limit,
                self._epoll,
                pending.arrived,
                has_namespaces=self.profile == "namespaces",
                traced=self._traced,
                has_network=self._has_network,
            )
        except OSError as problem:
            self._dismiss(number, str(problem), fds)
            return
        del self._pending[number]
        if pending.arrived.done():  # nobody waits for it
            pending.guest.end()
        else:
            pending.clock.reschedule(self._loop.time() + READY_SECONDS)

    def _dismiss(self, number: int, why: str, fds: list[int]) -> None:
        """Give up a guest that cannot be used. It ends when its sockets close; the warden ends its reaper."""
        self._command(dismiss=number)
        self._refuse(self._pending.pop(number), JailUnavailable(f"a guest could not be created: {why}"), fds)

    def _refuse(self, pending: PendingGuest, problem: PaddockError, fds: list[int]) -> None:
        for fd in fds:
            os.close(fd)
        if not pending.arrived.done():
            pending.arrived.set_exception(problem)

    def _die(self) -> None:
        """Note the death of the warden, and fail everyone who waits for a guest."""
        self._loop.remove_reader(self._control.fileno())
        self._messages.put_nowait({})  # ends a wait in `_begin`
        for pending in self._pending.values():
            if not pending.arrived.done():
                pending.arrived.set_exception(EngineCrashed(_DIED))
        self._pending.clear()
        if self._warm is not None:
            self._warm.end("the warden has died")
        if not self.died.done():
            self.died.set_result(None)

    async def close(self) -> None:
        """Kill the warden, which ends all zygotes and guests."""
        if self._control.fileno() < 0:
            return
        self._die()
        with suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.to_thread(self._process.wait)
        if self.uid_block is not None:
            self.uid_block.close()
        if self._control.fileno() >= 0:  # another task may have closed it meanwhile
            self._control.close()
            self._epoll.release()
