"""A guest that stays alive between the runs of a session."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from paddock.engines.jailed import Cell, JailedExecution
from paddock.errors import JailUnavailable, RequestError
from paddock.jail.fork import REFUSED, Family, Fork
from paddock.jail.walls.shortage import explain

if TYPE_CHECKING:
    from paddock.jail.guest import Guest
    from paddock.jail.jail import Jail
    from paddock.planning.plan import Plan

DIED = "ended: its process died"
STUCK = "ended: its run did not stop when it was interrupted"
BEHIND = "ended: its run left answers unread"  # they would wait in the host's memory
RESTLESS = "ended: its processes went on after its run"
FULL = "ended: it exceeded its limit of memory"  # the kernel may have ended another of its processes


class OpenCell(Protocol):
    """Makes the execution of one cell."""

    def __call__(self, guest: Guest, plan: Plan, *, may_fork: bool, cell: Cell) -> JailedExecution: ...


class JailedInterpreter:
    """A guest that runs one cell after another. It does not count as in use between them."""

    def __init__(self, jail: Jail, guest: Guest, open_cell: OpenCell, family: Family | None = None) -> None:
        self._jail, self._guest, self._open_cell = jail, guest, open_cell
        self.ended: str | None = None
        self._unread = b""
        self._execution: JailedExecution | None = None  # of the cell that runs
        self._is_given_back = self._is_running = self._has_run = False
        self._is_aside = isinstance(guest, Fork)
        self._family = family
        guest.hold()
        guest.freeze_soon()
        self._set_aside()

    @asynccontextmanager
    async def open(self, plan: Plan, cell: int) -> AsyncIterator[JailedExecution]:
        self._is_running = True
        execution = self._execution = None
        try:
            if plan.package_set is not None:
                await self._jail.show_set(self._guest, plan.package_set.path)
            await self._resume()
            place = Cell(cell, secrets.randbelow(2**32 - 1) + 1, self._unread, is_first=not self._has_run)
            self._has_run = True
            execution = self._open_cell(self._guest, plan, may_fork=self._jail.may_fork, cell=place)
            self._execution = execution
            if self.ended is not None:  # while the run waited for its turn
                execution.ended_by = self._why_ended()
            yield execution
        finally:
            if execution is not None and self._guest.is_out_of_memory():
                self.end(FULL)
            self._is_running = False
            self._settle(execution)

    def _settle(self, execution: JailedExecution | None) -> None:
        """Keep the guest for the next cell, or end it."""
        if execution is not None:
            self._unread = execution.unread
            if self.ended is None and execution.has_result and not self._guest.is_behind:
                self._guest.freeze_soon()
                self._set_aside()
            else:
                self.end(DIED if self._guest.has_ended() else BEHIND if execution.has_result else STUCK)
        if self.ended is not None:
            self._give_back()

    async def _resume(self) -> None:
        await self._jail.resume(self._guest)
        self._is_aside = False

    def _set_aside(self) -> None:
        if not self._is_aside:
            self._is_aside = True
            self._jail.set_aside(self._guest)

    def check_run(self, plan: Plan) -> None:
        """Do nothing: any plan for this engine can be run."""

    def check_fork(self) -> None:
        if self._jail.profile != "namespaces":
            raise RequestError(f"{REFUSED}: in the jail's profile {self._jail.profile!r} it could not end alone")

    async def fork(self, plan: Plan) -> JailedInterpreter:
        self._family = self._family or Family(self._jail, self._guest)
        try:
            forked = await self._family.fork(self._guest, plan.limits.wall_seconds)
        except OSError as problem:  # in the host
            raise JailUnavailable(f"the session could not be forked: {explain(problem)}") from None
        finally:
            self._guest.freeze_soon()
        return JailedInterpreter(self._jail, forked, self._open_cell, self._family)

    def memory_bytes(self) -> int:
        if self.ended is not None:
            return 0
        shared_bytes = 0 if self._family is None else self._family.share_bytes()
        return self._guest.resource_limit.held_bytes() + shared_bytes

    def check(self) -> None:
        if self.ended is None and self._guest.is_out_of_memory():
            self.end(FULL)  # its process may be about to end
        elif self.ended is None and self._guest.has_ended():
            self.end(RESTLESS if self._guest.is_restless else DIED)

    def end(self, reason: str) -> None:
        if self.ended is None:
            self.ended = reason
            if self._is_running:
                if self._execution is not None:
                    self._execution.ended_by = self._why_ended()
                if self._guest.is_shared:
                    self._guest.kill_own()
                else:
                    self._guest.kill()  # the run sees it end, and gives it back
            else:
                self._give_back()

    def _why_ended(self) -> str:
        return f"the session {self.ended}"

    def _give_back(self) -> None:
        if not self._is_given_back:
            self._is_given_back = True
            if self._family is None:
                self._jail.give_back(self._guest)
            else:
                self._set_aside()
                self._family.end(self._guest)
