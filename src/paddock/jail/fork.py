"""A guest that was forked from the live guest of a session, inside the same jail.

The two share the walls: pid namespace, mounts, uid, filter. Each has its own process, control socket, pipes and, where
there are control groups, its own limits. So ending one must not end the jail: it ends with the last of them (`Family`).
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from paddock import descriptors
from paddock.errors import EngineCrashed, RequestError
from paddock.jail.guest import Guest, Report
from paddock.jail.profiles import process_status
from paddock.jail.wire import Kind, pack
from paddock.model.limits import format_bytes

if TYPE_CHECKING:
    from paddock.jail.jail import Jail
    from paddock.jail.limits import ResourceLimit
    from paddock.jail.warden_client import Mover

ANSWER_SECONDS = 5.0
"""How long the guest may take to fork: it goes on for so long without a run."""
REASON_CHARACTERS = 300
REFUSED = "the session cannot be forked"
UNKNOWN_STATUS = -1
"""The status in the report about a fork: only its parent in the jail could read how it ended."""


class Fork(Guest):
    """The host's side of such a guest."""

    def __init__(self, parent: Guest, fds: list[int], resource_limit: ResourceLimit, within_seconds: float) -> None:
        arrived = asyncio.get_running_loop().create_future()
        arrived.set_result(None)
        super().__init__(parent.uid, parent.template, fds, resource_limit, parent.epoll, arrived)
        self.is_shared = True
        self._within_seconds = within_seconds
        self.pid_inside = 0  # its pid in the pid namespace of the jail

    async def wait_until_ready(self) -> None:
        """Wait for READY from the new process. Raises `RequestError` with the reason if there is none."""
        try:
            async with asyncio.timeout(self._within_seconds):
                await super().wait_until_ready()
        except TimeoutError:
            raise RequestError(f"{REFUSED}: its process does not answer") from None
        self.hold()

    def hold(self) -> None:
        """Hold the process that sent READY, unless it has ended: its pid may be another process's by now."""
        is_held = self._pidfd is not None
        super().hold()
        if self._pidfd is not None and not is_held and not self._is_in_jail():
            os.close(self._pidfd)
            self._pidfd = None

    def _is_in_jail(self) -> bool:
        with suppress(OSError):
            namespaces = {os.stat(f"/proc/{pid}/ns/pid").st_ino for pid in (self.pid, self.reaper_pid)}  # noqa: PTH116
            self.pid_inside = int(process_status(self.pid).get("NSpid", "0").split()[-1])
            return len(namespaces) == 1 and not self.has_ended()
        return False

    def _not_ready(self, why: str) -> Exception:
        shown = "".join(filter(str.isprintable, why[:REASON_CHARACTERS]))  # the script may have written it
        return RequestError(f"{REFUSED}: {shown or 'its process has ended'}")

    def report(self) -> Report | None:
        return Report(UNKNOWN_STATUS, 0.0) if self.has_ended() else None

    def kill(self) -> None:
        self.kill_own()

    def _processes(self) -> list[int]:
        return [] if self._pidfd is None else [self._pidfd]


class Family:
    """The guests that were forked from one another. The jail of the first ends with the last."""

    def __init__(self, jail: Jail, first: Guest) -> None:
        self._jail, self._first = jail, first
        self._members = {first}
        self._left: dict[ResourceLimit, asyncio.Task[bool] | None] = {}  # of ended members: others may use their memory
        self._settled_bytes = 0  # in those that are used by other guests by now

    async def fork(self, guest: Guest, within_seconds: float) -> Fork:
        """Let this member, which must be idle, fork itself, and limit the new process like any guest.

        It is given ANSWER_SECONDS, or `within_seconds` if that is less.
        """
        await self._check_memory(guest)
        resource_limit = await self._jail.take_limit()
        forked = mover = None
        try:
            self._check_member(guest)
            if groups := resource_limit.entrances():
                mover = self._jail.start_mover(self._first, groups)
            guest.thaw()  # only now: what comes before may take long on a busy host
            forked = _send_ends(guest, resource_limit, min(within_seconds, ANSWER_SECONDS))
            await forked.wait_until_ready()
            self._check_member(guest)
            self._add(forked)
            resource_limit.follow(guest.resource_limit)
            for each in (guest, forked):
                each.resource_limit.share(guest.reaper_pid, partial(self._others, each))
            await self._move(forked, mover)
        except BaseException:
            if forked is None:
                self._jail.give_limit_back(resource_limit)
            else:
                self._jail.adopt(forked)
                self.end(forked)
            raise
        finally:
            if mover is not None:
                mover.close()
        guest.is_shared = True
        self._jail.adopt(forked)
        return forked

    def end(self, guest: Guest) -> None:
        """End this member, which is set aside, or a fork that did not become one."""
        if isinstance(guest, Fork):
            self._left[guest.resource_limit] = self._jail.end_fork(guest)
        elif len(self._members) > 1:
            guest.kill_own()
            self._left[guest.resource_limit] = None  # the jail's own processes are in its control group
        self._remove(guest)

    def left_bytes(self) -> int:
        """The memory of ended members that others still use. The kernel does not count it for those."""
        for resource_limit, ending in list(self._left.items()):
            if ending is not None and ending.done() and not ending.exception() and ending.result():
                left_bytes = resource_limit.left_bytes()
                if self._jail.settle(resource_limit):
                    del self._left[resource_limit]
                    self._settled_bytes += left_bytes
        return self._settled_bytes + sum(resource_limit.left_bytes() for resource_limit in self._left)

    def share_bytes(self) -> int:
        """What each member has of that memory."""
        return self.left_bytes() // max(len(self._members), 1)

    async def _check_memory(self, guest: Guest) -> None:
        """Refuse a fork if ended members have left more than the limit of one. Otherwise forks could evade limits."""
        limit_bytes = guest.resource_limit.justified_bytes
        if self.left_bytes() > limit_bytes:
            await asyncio.gather(*filter(None, self._left.values()), return_exceptions=True)
        if (left := self.left_bytes()) > limit_bytes:
            raise RequestError(
                f"{REFUSED}: sessions that it was forked from, or that were forked from it, have ended and left "
                f"{format_bytes(left)} that others still use, more than memory_bytes; start a new session instead"
            )

    def _check_member(self, guest: Guest) -> None:
        """Refuse a fork of a member that was ended meanwhile: the jail may have ended with it."""
        if guest not in self._members:
            raise RequestError(f"{REFUSED}: it has ended")

    async def _move(self, forked: Fork, mover: Mover | None) -> None:
        """Move the new process to its control group, if it has one. Raises `RequestError` if it has ended."""
        if mover is not None:
            moving = asyncio.create_task(mover.move(forked.pid_inside))
            try:
                await asyncio.shield(moving)
            except asyncio.CancelledError:
                await asyncio.wait([moving])  # until then nobody else may get the group
                raise
            if not moving.result():
                raise RequestError(f"{REFUSED}: its process could not be limited")
        if forked.has_ended():
            raise RequestError(f"{REFUSED}: its process has ended")

    def _others(self, guest: Guest) -> list[int]:
        """The pids of the other members. Called by the watcher's thread too."""
        return [member.pid for member in tuple(self._members) if member is not guest]

    def _add(self, forked: Fork) -> None:
        # A member that answered itself would leave its control group for the fork's: nothing would limit it.
        if any(forked.pid == member.pid for member in self._members):
            raise RequestError(f"{REFUSED}: its process did not fork")
        self._members.add(forked)

    def _remove(self, guest: Guest) -> None:
        is_last = self._members == {guest}
        self._members.discard(guest)
        if is_last:
            self._jail.give_back(self._first)
        while self._left and not self._members:
            resource_limit, ending = self._left.popitem()
            if ending is not None:
                ending.add_done_callback(partial(self._give_limit_back, resource_limit))

    def _give_limit_back(self, resource_limit: ResourceLimit, _: object) -> None:
        with suppress(EngineCrashed):  # the jail has been closed, and all its groups are gone
            self._jail.give_limit_back(resource_limit)


def _send_ends(guest: Guest, resource_limit: ResourceLimit, within_seconds: float) -> Fork:
    """Make a control socket and two pipes, and send the guest its ends of them."""
    opened: list[int] = []
    try:
        host_end, guest_end = socket.socketpair()
        host_end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel says which process sent READY
        descriptors.accept_none(host_end)  # now: the guest has run scripts before
        opened += [host_end.detach(), guest_end.detach()]
        for _ in range(2):
            opened += os.pipe()
        opened.append(os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC))  # never readable
        opened.append(os.dup(guest.reaper))
        control, guest_control, out, guest_out, error, guest_error, report, reaper = opened
        forked = Fork(guest, [control, report, out, error, reaper], resource_limit, within_seconds)
    except OSError:
        for fd in opened:
            os.close(fd)
        raise
    theirs = [guest_control, guest_out, guest_error]
    try:
        socket.send_fds(guest.control, [pack(Kind.FORK)], theirs)
    except OSError:  # it has died: the new sockets close, and say so
        pass
    finally:
        for fd in theirs:
            os.close(fd)
    return forked
