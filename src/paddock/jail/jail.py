"""The jail of one engine: what it stands on here, and its guests. Everything is started on first use."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from paddock.jail.bounds import Bounds
from paddock.jail.environment import configured
from paddock.jail.environment_lease import Lease, alease
from paddock.jail.guest import Guest
from paddock.jail.keeper import Keeper
from paddock.jail.pool import Pool
from paddock.jail.spec import Spec
from paddock.jail.walls.namespaces import Identities
from paddock.model.errors import EngineCrashed

if TYPE_CHECKING:
    from paddock.config import Config

SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/usr/bin", "/lib", "/lib64", "/lib32", "/bin"),
    *("/usr/share/zoneinfo", "/usr/share/ca-certificates", "/etc/ssl/certs", "/etc/ld.so.cache"),
)
"""What programs of the system need to run: libraries, tools, time zones, certificates. No setting, no secret."""
UIDS = 1 << 16

log = logging.getLogger("paddock.jail")


class Jail:
    """Guests that run `runtime` in the environment of the configuration."""

    def __init__(self, config: Config, runtime: str) -> None:
        self._config = config
        self._runtime = runtime
        self._pool: Pool | None = None
        self._lease: Lease | None = None
        self._starting = asyncio.Lock()
        self._closed = False

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
                settings = self._config.cpython
                environment = configured(self._config, settings.environment)
                self._lease = await alease(environment, self._config.data_directory, log.info)
                if self._lease.problem is not None:
                    log.warning("%s", self._lease.problem)
                self._pool = Pool(
                    self._keeper,
                    floor=settings.min_waiting,
                    ceiling=settings.max_waiting,
                    most=settings.max_guests,
                    idle_seconds=settings.idle_seconds,
                    bounds=await asyncio.to_thread(Bounds, self._config.limits),
                )
            return self._pool

    async def _keeper(self) -> Keeper:
        if self._lease is None:
            raise EngineCrashed("the environment is not there any more")
        built, jail = self._lease.built, self._config.jail
        root = os.geteuid() == 0
        spec = Spec(
            profile="namespaces",
            runtime=self._runtime,
            reads=(*SYSTEM, *built.reads),
            preload=built.preload,
            own_uids=root,
            tmp_bytes=jail.tmp_bytes,
            tmp_inodes=jail.tmp_inodes,
        )
        ids = Identities(0, jail.uid_base, jail.uid_base, UIDS) if root else Identities(0, os.getuid(), os.getgid(), 1)
        return await Keeper.start(built.executable, spec, ids)
