"""Package sets: packages that runs ask for, installed behind walls and cached, next to an environment.

A package is hostile code. No interpreter outside the walls ever has a set on its path. uv installs wheels only, npm
runs no install scripts, and both run in `exec_installer`. A guest adds its set to the path when it is walled in.

DATA/packages/sets/KEY/      an installed set: `site`, the folder for the path, and `set.json`. All guests may read it
DATA/packages/requests/…     which set a list of requirements led to, and when; `uses/KEY`: when a set was used last
DATA/packages/work/          what installers write: a folder for each installation, and caches, each for one at a time
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import stat
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from paddock.errors import HostError, PackageError
from paddock.jail.environments import Built, FileLock, builds
from paddock.jail.exec_installer import INSTALLER_UID
from paddock.jail.installer import Done, Installation, Show, follow, kill, start
from paddock.jail.package_job import make_job
from paddock.jail.walls import roots
from paddock.model.limits import format_bytes
from paddock.model.packages import PackageSet

if TYPE_CHECKING:
    from paddock.config import PackagesConfig

RESOLVED_SECONDS = 7 * 24 * 3600.0
"""How long the same requirements lead to the same versions."""
UNUSED_SECONDS = 3600.0
"""A set that was used more recently is never dropped: a script may still import from it."""
ABANDONED_SECONDS = 24 * 3600.0
"""A folder of an installation that is older was left by a process that was killed."""
CHECK_SECONDS = 0.25
ENTRY_BYTES = 4096
"""What an empty file or folder counts: a disk has room for a limited number of them."""
CACHE_GROWTH = 2
"""How much an installation may add to its cache, in sizes of a set: all packages unpacked, and what an index says."""
BUILDS_AT_ONCE = 3
"""How many installations run at once. One principal has all but one of these turns, so it cannot make another wait."""
MAX_DEPTH = 100
"""How deep the folders of a package may be nested: what reads a set later may recurse."""


def sets_folder(data_directory: str | Path) -> Path:
    """The folder of all sets. Guests see it, but where they have a uid of their own they cannot list it."""
    return builds(data_directory).parents[1] / "packages" / "sets"


def make_sets_folder(data_directory: str | Path) -> str:
    """Create the folder of all sets, and return its real path. It is mounted before the first set exists."""
    folder = sets_folder(data_directory)
    folder.mkdir(parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o711:  # the data directory may be read-only by now
        folder.chmod(0o711)
    return os.path.realpath(folder)


class _Request(msgspec.Struct):
    """Which set a list of requirements led to."""

    key: str
    resolved_at: float


class PackageSets:
    """Finds or installs the sets of one data directory.

    An installation belongs to no run: it continues if the run that asked for it is cancelled, and other runs that need
    the same packages wait for the same installation.
    """

    def __init__(self, settings: PackagesConfig, data_directory: str | Path) -> None:
        self._settings = settings
        self._folder = sets_folder(data_directory).parent
        self._uses = self._folder / "requests" / "uses"  # a file for each set
        self._installations: dict[str, Installation] = {}
        self._by_principal: Counter[str] = Counter()
        self._turn = asyncio.Semaphore(BUILDS_AT_ONCE)
        self._own_turns: dict[str, asyncio.Semaphore] = {}  # by principal
        self._cleaning: set[asyncio.Task[None]] = set()

    async def get(
        self, requirements: tuple[str, ...], built: Built, show: Show, principal: str, language: str = "python"
    ) -> PackageSet:
        """The set with these packages, for guests of the environment `built`. Installs it unless it is installed.

        Raises `PackageError` if the packages cannot be installed, with one line that says what to do.
        """
        request = hashlib.sha256(json.dumps([built.key, requirements]).encode()).hexdigest()[:32]
        found = await asyncio.to_thread(self._find, request)
        if found is not None:
            return found
        installation = self._installations.get(request)
        if installation is None:
            if self._by_principal[principal] >= self._settings.builds_per_principal:
                raise PackageError("other packages are being installed for you; try again when they are ready")
            installation = Installation()
            self._installations[request] = installation
            self._by_principal[principal] += 1
            own_turn = self._own_turns.setdefault(principal, asyncio.Semaphore(BUILDS_AT_ONCE - 1))
            work = self._install(installation, own_turn, request, requirements, built, language)
            installation.task = asyncio.create_task(work)
            installation.task.add_done_callback(lambda task: self._forget(request, principal, task))
        with installation.watched_by(show):
            return await asyncio.shield(installation.task)

    def _forget(self, request: str, principal: str, task: asyncio.Task[PackageSet]) -> None:
        del self._installations[request]
        self._by_principal[principal] -= 1
        if not self._by_principal[principal]:
            del self._by_principal[principal], self._own_turns[principal]
        if not task.cancelled():
            task.exception()  # retrieved: those who wait get it, and perhaps nobody does

    async def close(self) -> None:
        """End the installations that are in progress."""
        tasks = [installation.task for installation in self._installations.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._cleaning, return_exceptions=True)

    def _find(self, request: str) -> PackageSet | None:
        with suppress(OSError, ValueError, RecursionError):
            path = self._folder / "requests" / f"{request}.json"
            record = msgspec.json.decode(path.read_bytes(), type=_Request)
            if 0 <= time.time() - record.resolved_at < RESOLVED_SECONDS:  # the clock may have been set back
                return self._open(record.key)
        return None

    def _open(self, key: str) -> PackageSet:
        """An installed set. Notes that it is in use. Raises OSError or ValueError if there is none."""
        folder = self._folder / "sets" / key
        found = msgspec.json.decode((folder / "set.json").read_bytes(), type=PackageSet)
        _mark_used(self._uses / key)
        return found

    async def _install(
        self,
        installation: Installation,
        own_turn: asyncio.Semaphore,
        request: str,
        requirements: tuple[str, ...],
        built: Built,
        language: str,
    ) -> PackageSet:
        async with own_turn, self._turn:
            installation.tell(f"installing {', '.join(requirements)}")
            stage = await asyncio.to_thread(self._make_stage)
            found = None
            try:
                with self._own_cache() as cache:
                    job = make_job(stage, cache, requirements, built, language)
                    job["max_packages"] = self._settings.max_packages
                    done = await self._run(installation, job, stage)
                found = await asyncio.to_thread(self._keep, stage, request, built, done, language)
            except OSError as problem:
                raise HostError(f"packages cannot be installed in {self._folder}: {problem}") from None
            finally:
                # No run waits for this.
                cleaning = asyncio.create_task(asyncio.to_thread(self._clean_up, stage, found))
                self._cleaning.add(cleaning)
                cleaning.add_done_callback(self._cleaning.discard)
            return found

    def _make_stage(self) -> Path:
        work = self._folder / "work"
        for folder in (self._folder / "sets", self._folder / "requests", self._uses, work):
            folder.mkdir(parents=True, exist_ok=True)
        for private in (work, self._folder / "requests"):
            private.chmod(0o700)  # uv makes files in it that everybody may write to; a request names a set
        stage = work / f"stage-{secrets.token_hex(8)}"
        stage.mkdir()
        _give_to_installer(work, stage)
        return stage

    @contextmanager
    def _own_cache(self) -> Iterator[Path]:
        """A cache that no other installation uses during a block, of this process or another."""
        work = self._folder / "work"
        locks = (FileLock(work / f"cache{number or ''}.lock", exclusive=True) for number in count())
        with next(lock for lock in locks if lock.try_take()) as lock:
            cache = _cache_of(lock)
            cache.mkdir(exist_ok=True)
            _give_to_installer(cache)
            yield cache

    def _clean_up(self, stage: Path, found: PackageSet | None) -> None:
        """Remove what installations leave behind, and what has become too large: old sets, the installers' caches."""
        _remove(stage)
        for folder in (*stage.parent.glob("stage-*"), *(self._folder / "sets").glob(".stage-*")):
            with suppress(OSError):
                if time.time() - folder.lstat().st_mtime > ABANDONED_SECONDS:
                    _remove(folder)
        if found is not None:
            self._drop_unused(found)
        caches = [FileLock(path, exclusive=True) for path in stage.parent.glob("cache*.lock")]
        if sum(_size(_cache_of(cache)) for cache in caches) > self._settings.cache_bytes:
            for cache in caches:
                with suppress(OSError):
                    if cache.try_take():
                        with cache:
                            _cache_of(cache).rename(stage)  # first: an installation that starts now makes another one
                        _remove(stage)

    async def _run(self, installation: Installation, job: dict[str, Any], stage: Path) -> Done:
        """Run an installer within its limits of time, bytes and output, and return what it reports."""
        process = await start()
        watch = asyncio.create_task(self._watch_size(installation, stage, Path(job["cache"]), process))
        try:
            async with asyncio.timeout(self._settings.build_seconds):
                return await follow(process, job, installation)
        except TimeoutError:
            limit = f"{self._settings.build_seconds:g} s"
            message = f"the packages were not installed within {limit}: ask for fewer or smaller ones"
            raise PackageError(message) from None
        except PackageError:
            if installation.is_too_large:
                raise _too_large(self._settings.max_bytes) from None
            raise
        finally:
            watch.cancel()
            await kill(process)

    async def _watch_size(
        self, installation: Installation, stage: Path, cache: Path, process: asyncio.subprocess.Process
    ) -> None:
        """Report how much has been installed, and end an installer that writes more than a set may have.

        Packages are unpacked in the cache first.
        """
        cached = await asyncio.to_thread(_size, cache)
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            size = await asyncio.to_thread(_size, stage)
            growth = await asyncio.to_thread(_size, cache) - cached
            if size > self._settings.max_bytes or growth > CACHE_GROWTH * self._settings.max_bytes:
                installation.is_too_large = True
                process.kill()
            if installation.count and size and not installation.has_own_words:
                installation.tell(f"installing {installation.packages}, {format_bytes(size)} so far")

    def _keep(self, stage: Path, request: str, built: Built, done: Done, language: str) -> PackageSet:
        """Move what was installed to its place, unless the same set is there already."""
        key = self._set_key(built, done)
        folder = self._folder / "sets" / key
        if not (folder / "set.json").exists():
            finished = self._folder / "sets" / f".{stage.name}"
            finished.mkdir(mode=0o700)  # no installer can reach it
            try:
                (stage / "site").rename(finished / "site")
                make_safe(finished / "site", self._settings.max_bytes)
                (finished / "lock.txt").write_text(done.lock)
                path = f"{os.path.realpath(folder.parent)}/{key}/site"  # as guests see it
                path += "" if language == "python" else "/node_modules"
                found = PackageSet(path, done.shadows, done.packages, done.uses)
                (finished / "set.json").write_bytes(msgspec.json.encode(found))
                finished.chmod(0o755)
                with suppress(OSError):  # another process was quicker
                    finished.rename(folder)
            finally:
                _remove(finished)
        record = self._folder / "requests" / f"{request}.json"
        new = record.with_name(f"{record.stem}.{stage.name}")
        new.write_bytes(msgspec.json.encode(_Request(key, time.time())))
        new.replace(record)
        return self._open(key)

    def _set_key(self, built: Built, done: Done) -> str:
        """The name of a set: a hash of its lock. A secret makes it impossible to guess for guests."""
        path = self._folder / "secret"
        with suppress(FileExistsError):
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(fd, secrets.token_bytes(32))
            os.close(fd)
        content = json.dumps([built.key, done.shadows, done.lock]).encode()
        return hashlib.sha256(path.read_bytes() + content).hexdigest()[:32]

    def _drop_unused(self, new: PackageSet) -> None:
        """Remove the least recently used sets, until the others fit into `packages.cache_bytes`."""
        found, now = [], time.time()
        for folder in (self._folder / "sets").glob("[!.]*"):  # without those that are being made
            with suppress(OSError):
                used_at = _used_at(self._uses / folder.name)
                found.append((used_at if used_at <= now else 0.0, _size(folder), folder))
        left = sum(size for _, size, _ in found)
        for _, size, folder in sorted(found):
            if left <= self._settings.cache_bytes:
                return
            if f"/{folder.name}/site" not in new.path and not _is_in_use(self._uses / folder.name):
                (folder / "set.json").unlink(missing_ok=True)  # first: a set without it is not used
                _remove(folder)
                (self._uses / folder.name).unlink(missing_ok=True)
                roots.remove(self._folder.parent / "roots", os.path.realpath(folder.parent) + f"/{folder.name}/site")
                left -= size


def _cache_of(lock: FileLock) -> Path:
    return lock.path.with_suffix("")


def _give_to_installer(*folders: Path) -> None:
    if os.geteuid() == 0:
        for folder in folders:
            os.lchown(folder, INSTALLER_UID, INSTALLER_UID)


def _mark_used(use: Path) -> None:
    """Note in the times of the file `use` that a set is in use. Those of the set are visible to guests."""
    use.touch()
    # The second is the time since the machine was started, which nobody can set. After a restart it means nothing.
    os.utime(use, (time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)))


def _used_at(use: Path) -> float:
    return use.stat().st_atime if use.exists() else 0.0


def _is_in_use(use: Path) -> bool:
    """Whether a set was used so recently, by any process, that a script may still import from it."""
    with suppress(OSError):
        return 0 <= time.clock_gettime(time.CLOCK_BOOTTIME) - use.stat().st_mtime < UNUSED_SECONDS
    return False


def _size(folder: Path) -> int:
    """The bytes below `folder`. Follows no link; what vanishes meanwhile is not counted."""
    return sum(max(status.st_blocks * 512, ENTRY_BYTES) for _, status, _ in _entries(folder))


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result, int]]:
    """Everything below `folder`, however deep: its path, what it is, and in how many folders."""
    waiting = [(str(folder), 1)]
    while waiting:
        parent, depth = waiting.pop()
        with suppress(OSError):
            for name in os.listdir(parent):  # noqa: PTH208
                path = f"{parent}/{name}"
                with suppress(OSError):
                    status = os.lstat(path)
                    yield path, status, depth
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append((path, depth + 1))


def _remove(folder: Path) -> None:
    for _ in range(3):  # a process of an installer that was killed may still write
        with suppress(OSError):
            roots.empty(str(folder))
            folder.rmdir()
            return


def make_safe(folder: Path, max_bytes: int) -> None:
    """Make a tree that an installer wrote read-only, and remove everything that is neither a file nor a folder.

    Each folder changes its owner before it is read, so that nobody can replace what is in it with a link.
    """
    owner, size = os.geteuid(), 0
    top = os.lstat(folder)
    if not stat.S_ISDIR(top.st_mode):
        raise PackageError("the installer left no folder of packages: ask for other ones")
    for path, status, depth in chain([(str(folder), top, 0)], _entries(folder)):
        size += max(status.st_size, ENTRY_BYTES)
        if depth > MAX_DEPTH:
            raise PackageError(f"a package has folders nested more than {MAX_DEPTH} deep: ask for another one")
        if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
            os.unlink(path)  # noqa: PTH108
            continue
        os.chown(path, owner, os.getegid())
        is_executable = stat.S_ISDIR(status.st_mode) or status.st_mode & 0o100
        os.chmod(path, (0o755 if stat.S_ISDIR(status.st_mode) else 0o555) if is_executable else 0o444)  # noqa: PTH101
    if size > max_bytes:
        raise _too_large(max_bytes)


def _too_large(max_bytes: int) -> PackageError:
    limit = f"{format_bytes(max_bytes)} (packages.max_bytes)"
    return PackageError(f"the packages are larger than {limit}: ask for fewer or smaller ones")
