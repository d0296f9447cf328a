"""The jail of one engine: what it stands on here, and its guests. Everything is started on first use."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from paddock.errors import EngineCrashed
from paddock.jail.bounds import Bounds
from paddock.jail.environment import configured
from paddock.jail.environment_lease import Lease, alease
from paddock.jail.guest import Guest
from paddock.jail.keeper import Keeper
from paddock.jail.pool import Pool
from paddock.jail.profiles import Inside
from paddock.jail.trial import first_that_works, start

if TYPE_CHECKING:
    from paddock.config import Config, GuestsConfig

log = logging.getLogger("paddock.jail")


class Jail:
    """Guests that run `runtime` in the environment that their settings name.

    `program` is what they become, where they do: a path below the environment's packages, and arguments. Without
    `processes` the filter itself leaves them no way to start another, whatever a run's limit says.
    """

    def __init__(
        self,
        config: Config,
        settings: GuestsConfig,
        runtime: str,
        program: tuple[str, ...] = (),
        *,
        processes: bool = True,
    ) -> None:
        self._config = config
        self._settings = settings
        self._runtime = runtime
        self._program = program
        self._processes = processes
        self._pool: Pool | None = None
        self._lease: Lease | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._counted = False
        self.profile: str | None = None  # the one that holds, once a guest was made

    async def start(self) -> None:
        """Start the zygote if it does not run yet. JailUnavailable says why no profile works here."""
        await (self._pool or await self._start()).start()

    async def take(self) -> Guest:
        """A guest that waits for a script; it must be given back. The first one takes as long as all must be built."""
        return await (self._pool or await self._start()).take()

    def give_back(self, guest: Guest) -> None:
        if self._pool is not None:
            self._pool.give_back(guest)

    async def close(self) -> None:
        """Leave no process, mount, control group or file."""
        self._closed = True
        async with self._starting:
            if self._pool is not None:
                await self._pool.close()
            if self._lease is not None:
                self._lease.release()

    async def _start(self) -> Pool:
        async with self._starting:
            if self._closed:
                raise EngineCrashed("Paddock was closed before the script began")
            if self._pool is None:
                settings = self._settings
                environment = configured(self._config, settings.environment)
                self._lease = await alease(environment, self._config.data_directory, log.info)
                if self._lease.problem is not None:
                    log.warning("%s", self._lease.problem)
                bounds = await asyncio.to_thread(Bounds, self._config.limits)
                self._counted = bounds.counts_unmapped
                self._pool = Pool(
                    self._keeper,
                    floor=settings.min_waiting,
                    ceiling=settings.max_waiting,
                    most=settings.max_guests,
                    idle_seconds=settings.idle_seconds,
                    recycle_seconds=settings.recycle_seconds,
                    bounds=bounds,
                    processes=self._processes,
                )
            return self._pool

    async def _keeper(self) -> Keeper:
        """A zygote of the profile that was found to work; the first time, of the first one that does."""
        if self._lease is None:
            raise EngineCrashed("the environment is not there any more")
        built = self._lease.built
        program = self._program and (os.path.join(built.site_packages, self._program[0]), *self._program[1:])  # noqa: PTH118
        inside = Inside(self._runtime, built.reads, (built.path,), built.preload, program)
        memfds = self._counted
        if self.profile is not None:
            return await start(self.profile, self._config, built.executable, inside, memfds=memfds)
        keeper = await first_that_works(self._config, built.executable, inside, memfds=memfds)
        self.profile = keeper.profile
        return keeper
