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

from paddock.errors import EngineCrashed, RequestError
from paddock.jail.guest import Guest, Report
from paddock.jail.wire import Kind, pack
from paddock.model.limits import format_bytes

if TYPE_CHECKING:
    from paddock.jail.jail import Jail
    from paddock.jail.limits import ResourceLimit

ANSWER_SECONDS = 10.0
"""How long the guest may take to fork."""
REASON_CHARACTERS = 300
REFUSED = "the session cannot be forked"
UNKNOWN_STATUS = -1
"""The status in the report about a fork: only its parent in the jail could read how it ended."""


class Fork(Guest):
    """The host's side of such a guest."""

    def __init__(self, parent: Guest, fds: list[int], resource_limit: ResourceLimit) -> None:
        control, out, error = fds
        report = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)  # never readable
        arrived = asyncio.get_running_loop().create_future()
        arrived.set_result(None)
        handed_over = [control, report, out, error, os.dup(parent.reaper)]
        super().__init__(parent.uid, parent.template, handed_over, resource_limit, parent.epoll, arrived)
        self.is_shared = True

    async def wait_until_ready(self) -> None:
        """Wait for READY from the new process. Raises `RequestError` with the reason if there is none."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await super().wait_until_ready()
        except TimeoutError:
            raise RequestError(f"{REFUSED}: its process does not answer") from None
        self.hold()

    def _not_ready(self, why: str) -> Exception:
        shown = "".join(filter(str.isprintable, why[:REASON_CHARACTERS]))  # the script may have written it
        return RequestError(f"{REFUSED}: {shown or 'its process has ended'}")

    def report(self) -> Report | None:
        return Report(UNKNOWN_STATUS, 0.0, 0) if self.has_ended() else None

    def kill(self) -> None:
        self.kill_own()

    def _processes(self) -> list[int]:
        return [] if self._pidfd is None else [self._pidfd]


class Family:
    """The guests that were forked from one another. The jail of the first ends with the last."""

    def __init__(self, jail: Jail, first: Guest) -> None:
        self._jail, self._first = jail, first
        self._members = {first}
        self._left: dict[ResourceLimit, asyncio.Task[None] | None] = {}  # of ended members: others may use their memory

    async def fork(self, guest: Guest) -> Fork:
        """Let this member fork itself, and limit the new process like any guest. It must be idle, and not frozen."""
        await self._check_memory(guest)
        resource_limit = await self._jail.take_limit()
        forked = None
        try:
            forked = _send_ends(guest, resource_limit)
            await forked.wait_until_ready()
            self._add(forked)
            await asyncio.to_thread(_enter, resource_limit, forked, guest)
        except BaseException:
            if forked is not None:
                await forked.end()
                self._remove(forked)
            self._jail.give_limit_back(resource_limit)
            raise
        guest.is_shared = True
        self._jail.adopt(forked)
        return forked

    def end(self, guest: Guest) -> None:
        """End this member, which is set aside."""
        if isinstance(guest, Fork):
            self._left[guest.resource_limit] = self._jail.end_fork(guest)
        elif len(self._members) > 1:
            guest.kill_own()
            self._left[guest.resource_limit] = None  # the jail's own processes are in its control group
        self._remove(guest)

    def left_bytes(self) -> int:
        """The memory of ended members that others still use. The kernel does not count it for those."""
        for resource_limit, ending in list(self._left.items()):
            if ending is not None and ending.done() and self._jail.settle(resource_limit):
                del self._left[resource_limit]
        return sum(resource_limit.held_bytes() for resource_limit in self._left)

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

    def _add(self, forked: Fork) -> None:
        # A member that answered itself would leave its control group for the fork's: nothing would limit it.
        if any(forked.pid == member.pid for member in self._members):
            raise RequestError(f"{REFUSED}: its process did not fork")
        self._members.add(forked)

    def _remove(self, guest: Guest) -> None:
        if guest in self._members:
            self._members.remove(guest)
            if not self._members:
                self._jail.give_back(self._first)
                for resource_limit, ending in self._left.items():
                    if ending is not None:
                        ending.add_done_callback(partial(self._give_limit_back, resource_limit))

    def _give_limit_back(self, resource_limit: ResourceLimit, _: object) -> None:
        with suppress(EngineCrashed):  # the jail has been closed, and all its groups are gone
            self._jail.give_limit_back(resource_limit)


def _enter(resource_limit: ResourceLimit, forked: Fork, parent: Guest) -> None:
    """Let the limit apply to the new process. Raises `RequestError` if that has ended: its pid may be another's."""
    with suppress(ProcessLookupError):
        resource_limit.enter(forked.pid, parent.resource_limit)
    if forked.has_ended():
        raise RequestError(f"{REFUSED}: its process has ended")


def _send_ends(guest: Guest, resource_limit: ResourceLimit) -> Fork:
    """Make a control socket and two pipes, and send the guest its ends of them."""
    control, guest_control = socket.socketpair()
    control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel says which process sent READY
    out, guest_out = os.pipe()
    error, guest_error = os.pipe()
    own = [control.detach(), out, error]
    theirs = [guest_control.detach(), guest_out, guest_error]
    try:
        forked = Fork(guest, own, resource_limit)
    except OSError:
        for fd in (*own, *theirs):
            os.close(fd)
        raise
    try:
        socket.send_fds(guest.control, [pack(Kind.FORK)], theirs)
    except OSError:  # it has died: the new sockets close, and say so
        pass
    finally:
        for fd in theirs:
            os.close(fd)
    return forked
