"""The jail of one engine: its environment, its profile and its pool of guests. All are set up on first use."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from paddock.errors import EngineCrashed, JailUnavailable
from paddock.jail.environment_build import Lease, alease
from paddock.jail.environments import Built, configured, packages_below
from paddock.jail.guest import Guest, Template
from paddock.jail.limits import ResourceLimit, ResourceLimits
from paddock.jail.packages import make_sets_folder
from paddock.jail.pool import CLOSED, Pool
from paddock.jail.profile_chroot import show_set
from paddock.jail.profiles import SYSTEM, make_spec, process_status, start, start_first_working
from paddock.jail.walls.own_network import find_bundle
from paddock.jail.walls.shortage import explain, thread_shortage_as_oserror
from paddock.jail.warden_client import Mover, WardenClient
from paddock.jail.zygote import Spec
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from paddock.config import Config, GuestsConfig

log = logging.getLogger("paddock.jail")


class Jail:
    """Guests that run `runtime` in the environment that `settings` names.

    `program` is the program that guests execute, if any: a path below the environment's packages, and arguments.
    Without `processes` the system call filter keeps guests from starting a process, whatever a run's limit allows.
    With `shows_sets` they see package sets, in `chroot` those that are shown to them.
    With `network` each has its own network, and the host makes its connections (`doors`).
    With `two_templates` guests are bare or warm, if the environment preloads anything. Otherwise all guests have the
    preloads.
    """

    def __init__(
        self,
        config: Config,
        settings: GuestsConfig,
        runtime: str,
        program: tuple[str, ...] = (),
        *,
        processes: bool = True,
        two_templates: bool = False,
        shows_sets: bool = False,
        network: bool = False,
    ) -> None:
        self._config = config
        self._settings = settings
        self._runtime = runtime
        self._program = program
        self._processes = processes
        self._two_templates = two_templates
        self._shows_sets = shows_sets
        self._network = network
        self._pool: Pool | None = None
        self._lease: Lease | None = None
        self._starting = asyncio.Lock()
        self._showing = LongWork()  # of package sets
        self._closed = False
        self.profile: str | None = None  # the profile in use, once the first warden has started

    async def start(self) -> None:
        """Start the warden and its zygote, unless they run already. Raises JailUnavailable if no profile works here."""
        await (self._pool or await self._start()).start()

    async def take(self, template: Template = "bare", *, lean: bool = False) -> Guest:
        """Return a guest that is ready for a script, a new one if it is to be `lean`. It must be given back.

        The first call waits for the environment to be built, the first warm guest for the preloads to be imported.
        """
        return await (self._pool or await self._start()).take(template, lean=lean)

    @property
    def may_fork(self) -> bool:
        """Whether the walls let guests start processes. Known once the first guest has been taken."""
        return self._processes and self.profile != "confined"

    async def warm_modules(self) -> frozenset[str]:
        """A script that imports one of these modules should get a warm guest. Empty if there is only one template."""
        await self._start()
        return self._lease.built.warm_modules if self._lease and self._spec.warm else frozenset()

    async def built(self) -> Built:
        """The build of the environment. The first call waits for it to be built."""
        await self._start()
        assert self._lease is not None  # noqa: S101  `_start` takes it
        return self._lease.built

    async def show_set(self, guest: Guest, path: str) -> None:
        """Let a guest that waits or is stopped see a package set. Only in `chroot` does it not see them all."""
        if self.profile == "chroot":
            spec = make_spec("chroot", self._config, self._spec)
            uid = int(process_status(guest.pid).get("Uid", "-1").split()[0])
            if guest.has_ended():  # which the run notices; the uid may be of another process
                return
            try:
                await self._showing.run(partial(asyncio.to_thread, show_set, spec, uid, path))
            except OSError as problem:
                raise JailUnavailable(f"the packages cannot be shown to the script: {problem}") from None

    def give_back(self, guest: Guest) -> None:
        if self._pool is not None:
            self._pool.give_back(guest)

    def set_aside(self, guest: Guest) -> None:
        """Keep the guest of a session while it has no run. `resume` it before the next one."""
        if self._pool is not None:
            self._pool.set_aside(guest)

    async def resume(self, guest: Guest) -> None:
        if self._pool is not None:
            await self._pool.resume(guest)

    async def take_limit(self) -> ResourceLimit:
        """A limit for a fork of a guest. Raises JailUnavailable if the jail was closed."""
        return await self._running_pool().take_limit()

    def give_limit_back(self, resource_limit: ResourceLimit) -> None:
        self._running_pool().give_limit_back(resource_limit)

    def start_mover(self, guest: Guest, groups: list[int]) -> Mover:
        return self._running_pool().start_mover(guest, groups)

    def adopt(self, fork: Guest) -> None:
        self._running_pool().adopt(fork)

    def end_fork(self, fork: Guest) -> asyncio.Task[bool]:
        return self._running_pool().end_fork(fork)

    def settle(self, resource_limit: ResourceLimit) -> bool:
        return self._running_pool().settle(resource_limit)

    def _running_pool(self) -> Pool:
        if self._pool is None:
            raise EngineCrashed(CLOSED)
        return self._pool

    def waiting_guests(self) -> Counter[tuple[str, str]]:
        """How many guests wait, by environment and template. Empty before the first guest was taken."""
        if self._pool is None:
            return Counter()
        environment = self._settings.environment
        waiting = Counter({(environment, "bare"): 0})  # shown even if none waits at the moment
        waiting.update((environment, guest.template) for guest in self._pool.waiting)
        return waiting

    async def close(self) -> None:
        """End the warden and all guests. Leaves no process, mount, control group or file behind."""
        self._closed = True
        async with self._starting:
            if self._pool is not None:
                await self._pool.close()
            if self._lease is not None:
                self._lease.release()

    async def _start(self) -> Pool:
        async with self._starting:
            if self._closed:
                raise EngineCrashed(CLOSED)
            if self._pool is None:
                environment = configured(self._config, self._settings.environment)
                with _shortage_as_unavailable():
                    if self._lease is None:
                        self._lease = await alease(environment, self._config.data_directory, log.info)
                        if self._lease.problem is not None:
                            log.warning("%s", self._lease.problem)
                    limits = await self._make_limits()
                self._spec = self._make_spec(self._lease.built, limits)
                jail = self._config.jail
                self._pool = Pool(
                    self._start_warden,
                    self._settings,
                    limits,
                    ("bare", "warm") if self._spec.warm else ("bare",),
                    processes=self._processes,
                    warden_guests=1 if jail.fresh_layout else jail.template_runs,
                    warden_seconds=jail.template_seconds,
                    max_aside=self._config.sessions.max_count,
                )
            return self._pool

    def _make_spec(self, built: Built, limits: ResourceLimits) -> Spec:
        return Spec(
            built.executable,
            self._runtime,
            reads=(*SYSTEM, *built.reads, *self._bundle()),
            hidden=packages_below({*SYSTEM, *built.reads} - {os.path.realpath(built.path)}),
            live=(make_sets_folder(self._config.data_directory),) if self._shows_sets else (),
            whole=(built.path,),
            preload=() if self._two_templates else built.preload,
            warm=built.preload if self._two_templates else (),
            program=self._program and (f"{built.site_packages}/{self._program[0]}", *self._program[1:]),
            counted=limits.counts_unmapped,
            sessions=limits.shares_cpu,
            network=self._network,
        )

    def _bundle(self) -> tuple[str, ...]:
        bundle = find_bundle() if self._network else None
        return () if bundle is None else (bundle,)

    async def _make_limits(self) -> ResourceLimits:
        config = self._config
        required = config.jail.require_control_group
        making = asyncio.create_task(
            asyncio.to_thread(ResourceLimits, config.limits, config.data_directory, required=required)
        )
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            # The thread continues. Without this, nothing would close the control group and cleanup process it creates.
            await (await making).close()
            raise

    async def _start_warden(self) -> WardenClient:
        """Start a warden with the profile that works here. The first call finds that profile."""
        with _shortage_as_unavailable():
            if self.profile is not None:
                return await start(self.profile, self._config, self._spec)
            client = await start_first_working(self._config, self._spec)
        self.profile = client.profile
        return client


@contextmanager
def _shortage_as_unavailable() -> Iterator[None]:
    try:
        with thread_shortage_as_oserror():
            yield
    except OSError as problem:
        raise JailUnavailable(f"the jail could not be started: {explain(problem)}") from None
