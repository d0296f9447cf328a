"""Environments: the packages and preloads of guests, and their builds on disk.

The key of a build is a hash of packages, preload and interpreter. Two names with the same content share a build. If the
configuration of a name changes, another build is made next to the old one.

DATA/environments/NAME.json          the current build of NAME, and its earlier builds
DATA/environments/builds/KEY/        a finished build with its manifest; it is renamed into place as a whole
DATA/environments/builds/KEY.partial a build in progress, or the remains of one that was killed
DATA/environments/builds/KEY.lock    locked exclusively while KEY is built or removed, shared while a Paddock uses it
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import platform
import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from paddock.errors import EnvironmentFailed, UnknownEnvironment
from paddock.jail.walls import roots
from paddock.jail.walls.shortage import unless_shortage
from paddock.model.environments import name_problem
from paddock.model.spelling import did_you_mean

if TYPE_CHECKING:
    from paddock.config import Config

FORMAT = 2
"""Part of every key. Raise it when builds of an earlier Paddock must no longer be used."""


@dataclass(frozen=True)
class Environment:
    """What to install, and what to import before a script starts."""

    name: str
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    python: str = ""  # as `EnvironmentConfig.python`

    @cached_property
    def key(self) -> str:
        """A hash of the content. The name and the order of packages are not part of it."""
        content = {
            "format": FORMAT,
            "packages": sorted(set(self.packages)),
            "preload": self.preload,  # in order: one module may have to be imported before another
            "python": [sys.implementation.name, *sys.version_info[:3], sysconfig.get_config_var("SOABI")],
            "platform": sysconfig.get_platform(),
            "prefix": os.path.realpath(sys.base_prefix),
        }
        if self.python:  # another interpreter, which only a build finds
            content |= {"python": self.python, "prefix": ""}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def path(self, data_directory: str | Path) -> Path:
        """Where the build of this content is or will be."""
        return builds(data_directory) / self.key


def configured(config: Config, name: str) -> Environment:
    """The environment that the configuration has under `name`."""
    table = config.environments.get(name)
    if table is None:
        raise unknown_environment(name, config.environments)
    return Environment(name, table.all_packages(), table.preload, table.python)


def unknown_environment(name: str, known: Iterable[str]) -> UnknownEnvironment:
    """The error for a name that is not in `known`."""
    return UnknownEnvironment(f"there is no environment {name!r}; {did_you_mean(name, sorted(known))}")


class Built(msgspec.Struct, frozen=True):
    """A finished build, as its manifest describes it. Its files never change."""

    key: str
    path: str
    packages: tuple[str, ...]
    preload: tuple[str, ...]
    executable: str
    """The build's own `bin/python`, a link. Guests start with it, so that they find the packages."""
    python: str
    """The interpreter that the link points to."""
    site_packages: str
    reads: tuple[str, ...]
    """Every directory and file that a guest must be able to read: the build, the interpreter, the standard library, and
    the shared libraries that these and the preloads load, `/usr/lib/…` included. None is inside another. They are real
    paths, or links in the folder of the file that they lead to."""
    installed: dict[str, str]
    """Version by package, dependencies included."""
    size_bytes: int
    warm_modules: frozenset[str]
    """Top-level modules that need a warm guest: the preloads, and modules of packages that depend on a preload."""
    version: str = platform.python_version()
    """Of its Python. Builds without it have the version that Paddock runs on, which is part of their key."""


def packages_below(folders: Iterable[str]) -> tuple[str, ...]:
    """The folders with packages of interpreters whose standard library is one of `folders`, or is there."""
    found = (
        f"{folder}/{name}"
        for folder in folders
        for below in ("", "py*/", "lib*/py*/")
        for name in glob.glob(f"{below}*-packages", root_dir=folder)  # noqa: PTH207
    )
    return tuple(sorted({os.path.realpath(path) for path in found if os.path.basename(path) in roots.PACKAGES}))  # noqa: PTH119


def builds(data_directory: str | Path) -> Path:
    """The directory of all builds, as guests know it: they see no link that leads to it.

    Raises EnvironmentFailed if this user has no home directory that it would be in.
    """
    try:
        return Path(data_directory).expanduser().resolve() / "environments" / "builds"
    except RuntimeError:
        raise EnvironmentFailed(f"{data_directory}: this user has no home directory; set data_directory") from None


MANIFEST = "paddock.json"


class Record(msgspec.Struct, frozen=True):
    """The builds of a name: the key of the current one, and the keys of all that were not removed."""

    key: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """What `remove` did: builds it removed, and builds it kept because a Paddock or another name uses them."""

    removed: list[str] = field(default_factory=list)
    in_use: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)


def ready(environment: Environment, data_directory: str | Path) -> Built | None:
    """The finished build of this content, if there is one. Reads one small file."""
    return read_build(data_directory, environment.key)


def current_build(name: str, data_directory: str | Path) -> Built | None:
    """The last build of `name`, even if the configuration has changed since."""
    record = read_record(name, data_directory)
    return None if record is None else read_build(data_directory, record.key)


def read_build(data_directory: str | Path, key: str) -> Built | None:
    """The finished build of this key; None if there is none, its interpreter is gone, or it was moved.

    Raises OSError if a shortage keeps it from being read (`walls/shortage`).
    """
    folder = builds(data_directory) / key
    try:
        built = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Built)
    except OSError as problem:
        unless_shortage(problem)
        return None
    except (ValueError, RecursionError):
        return None
    usable = built.key == key and built.path == str(folder) and os.access(built.executable, os.X_OK)
    return built if usable else None


def write_build(folder: Path, built: Built) -> None:
    """Write the manifest, the last file of a build."""
    manifest = folder / MANIFEST
    manifest.write_bytes(msgspec.json.format(msgspec.json.encode(built, order="deterministic")) + b"\n")
    manifest.chmod(0o444)


def lock_of(data_directory: str | Path, key: str, *, exclusive: bool) -> FileLock:
    """The lock of one build. The directory of all builds must exist."""
    return FileLock(builds(data_directory) / f"{key}.lock", exclusive=exclusive)


def partial_of(data_directory: str | Path, key: str) -> Path:
    """Where this key is built before it is renamed."""
    return builds(data_directory) / f"{key}.partial"


def sweep(data_directory: str | Path) -> None:
    """Remove what killed builds left behind, but no build in progress."""
    for partial in builds(data_directory).glob("*.partial"):
        with lock_of(data_directory, partial.stem, exclusive=True) as lock:
            if lock.try_take():
                shutil.rmtree(partial, ignore_errors=True)
                lock.release(remove=True)


def read_record(name: str, data_directory: str | Path) -> Record | None:
    try:
        return msgspec.json.decode(_record_path(name, data_directory).read_bytes(), type=Record)
    except (OSError, ValueError, RecursionError):
        return None


def built_names(data_directory: str | Path) -> list[str]:
    """The names of all environments that were built."""
    files = sorted(builds(data_directory).parent.glob("*.json"))
    return [path.stem for path in files if name_problem(path.stem) is None]


def record(name: str, key: str, data_directory: str | Path) -> None:
    """Make `key` the current build of `name`."""
    before = read_record(name, data_directory)
    if before is not None and before.key == key:
        return
    # In a read-only directory there is no record, and so no earlier build to fall back to.
    with suppress(OSError), _records_locked(data_directory):
        before = read_record(name, data_directory)
        keys = dict.fromkeys((*(before.keys if before else ()), key))
        _write_record(name, Record(key, tuple(keys)), data_directory)


def remove(name: str, data_directory: str | Path, *, keys: Iterable[str] = ()) -> Removal:
    """Remove every build of `name`, and `keys`, except builds that a running Paddock or another name uses.

    The root directories that the profile `chroot` has made from a build are removed with it.
    """
    removal = Removal()
    if not builds(data_directory).is_dir():
        return removal
    with _records_locked(data_directory):
        before = read_record(name, data_directory)
        others = {
            key
            for other in built_names(data_directory)
            if other != name and (theirs := read_record(other, data_directory))
            for key in theirs.keys
        }
        for key in dict.fromkeys((*(before.keys if before else ()), *keys)):
            if key in others:
                removal.shared.append(key)
            elif (builds(data_directory) / key).is_dir():
                (removal.removed if _remove_build(data_directory, key) else removal.in_use).append(key)
        left = tuple(removal.in_use)
        if left:
            newest = before.key if before and before.key in left else left[-1]
            _write_record(name, Record(newest, left), data_directory)
        else:
            _record_path(name, data_directory).unlink(missing_ok=True)
        roots.sweep(roots_of(data_directory))
    return removal


def roots_of(data_directory: str | Path) -> Path:
    """Where the profile `chroot` keeps the root directories that it makes from builds."""
    return builds(data_directory).parents[1] / "roots"


def _remove_build(data_directory: str | Path, key: str) -> bool:
    with lock_of(data_directory, key, exclusive=True) as lock:
        if not lock.try_take():
            return False
        partial = partial_of(data_directory, key)
        shutil.rmtree(partial, ignore_errors=True)
        try:
            (builds(data_directory) / key).rename(partial)  # atomic, so that no process finds half a build
            shutil.rmtree(partial)
        except OSError as problem:
            raise EnvironmentFailed(f"the build {builds(data_directory) / key} cannot be removed: {problem}") from None
        lock.release(remove=True)
        return True


def _record_path(name: str, data_directory: str | Path) -> Path:
    return builds(data_directory).parent / f"{name}.json"


def _write_record(name: str, written: Record, data_directory: str | Path) -> None:
    path = _record_path(name, data_directory)
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(written) + b"\n")
    new.replace(path)


def _records_locked(data_directory: str | Path) -> FileLock:
    """Take the lock of all records."""
    lock = FileLock(builds(data_directory).parent / "records.lock", exclusive=True)
    lock.take(time.sleep)
    return lock


WAIT_SECONDS = 0.05


class FileLock:
    """A lock between processes, shared or exclusive. The kernel releases it when the last process closes its file.

    Two locks in one process exclude each other too. The package `filelock` has no lock that a child can inherit.
    """

    def __init__(self, path: Path, *, exclusive: bool) -> None:
        self.path = path
        self._kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        """The open file. A child process that inherits it holds the lock too."""
        if self._fd is None:
            raise ValueError(f"{self.path} is not locked")
        return self._fd

    def try_take(self) -> bool:
        """Take the lock if it is free. Does not wait."""
        while True:
            # Whoever can open the file can take the lock, and keep it.
            fd = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, self._kind | fcntl.LOCK_NB)
                # If the file was removed between the two calls, this lock would exclude no one.
                if os.fstat(fd).st_ino == os.stat(self.path).st_ino:  # noqa: PTH116
                    self._fd = fd
                    return True
            except BlockingIOError:
                os.close(fd)
                return False
            except FileNotFoundError:
                pass
            os.close(fd)

    def take(self, pause: Callable[[float], object], waiting: Callable[[], None] = lambda: None) -> None:
        """Wait for the lock. `waiting` is called once if it is not free; `pause` sleeps, and may raise to give up."""
        if self.try_take():
            return
        waiting()
        while not self.try_take():
            pause(WAIT_SECONDS)

    def release(self, *, remove: bool = False) -> None:
        """Release the lock. `remove`, which is only for exclusive locks, removes its file too."""
        if self._fd is not None:
            if remove:
                self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
