"""Environments: the packages and preloads that guests start from, and their builds on disk.

The key of a build is a hash of packages, preload and interpreter. Two names with the same content share a build, and a
changed table makes another build beside the old one.

DATA/environments/NAME.json          the build that NAME stands for now, and those it stood for before
DATA/environments/builds/KEY/        a finished build, with its manifest; it appears by a rename, whole
DATA/environments/builds/KEY.partial a build under way, or what is left of one that was killed
DATA/environments/builds/KEY.lock    exclusive while KEY is built or removed, shared while a Paddock uses it
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paddock.errors import EnvironmentFailed, UnknownEnvironment
from paddock.jail.walls import roots
from paddock.model.environments import name_problem
from paddock.model.suggestions import nearest

if TYPE_CHECKING:
    from paddock.config import Config

FORMAT = 2
"""Part of every key. Raise it when builds of an earlier Paddock must not be used any more."""


@dataclass(frozen=True)
class Environment:
    """What to install, and what to import before a guest's first line."""

    name: str
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """24 hexadecimal digits for the content. The name and the order of packages are not part of it."""
        content = {
            "format": FORMAT,
            "packages": sorted(set(self.packages)),
            "preload": self.preload,  # in order: one module may have to be imported before another
            "python": [sys.implementation.name, *sys.version_info[:3], sysconfig.get_config_var("SOABI")],
            "platform": sysconfig.get_platform(),
            "prefix": os.path.realpath(sys.base_prefix),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def path(self, data_directory: str | Path) -> Path:
        """Where this content is or will be built."""
        return builds(data_directory) / self.key


def configured(config: Config, name: str) -> Environment:
    """The environment that is configured under `name`."""
    table = config.environments.get(name)
    if table is None:
        raise unknown(name, config.environments)
    return Environment(name, table.packages, table.preload)


def unknown(name: str, known: Iterable[str]) -> UnknownEnvironment:
    """The error for a name that is not in `known`."""
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(sorted(known))}"
    return UnknownEnvironment(f"there is no environment {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build, as described by its manifest. It is never written to again."""

    key: str
    path: str
    packages: tuple[str, ...]
    preload: tuple[str, ...]
    executable: str
    """The build's own `bin/python`, a link. Guests are started with it, so that they find the packages."""
    python: str
    """The interpreter that the link points to."""
    site_packages: str
    reads: tuple[str, ...]
    """Every directory that a guest must be able to read: the build, the standard library, the interpreter's, and those
    of every shared library that the interpreter, its extension modules and the preloads load, `/usr/lib/…` included.
    Real paths, none inside another."""
    installed: dict[str, str] = field(default_factory=dict)
    """Version by package, dependencies included."""
    size_bytes: int = 0
    warm_modules: frozenset[str] = frozenset()
    """Top-level modules that want a warm guest: the preloads, and those of distributions that depend on a preload."""


def builds(data_directory: str | Path) -> Path:
    """The directory of all builds."""
    return Path(data_directory).expanduser().absolute() / "environments" / "builds"


MANIFEST = "paddock.json"


@dataclass(frozen=True, slots=True)
class Record:
    """What a name stands for: the key in use, and every key that was built for it and not removed."""

    key: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """What `remove` did: builds removed, builds in use by a running Paddock, builds shared with another name."""

    removed: list[str] = field(default_factory=list)
    in_use: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)


def ready(environment: Environment, data_directory: str | Path) -> Built | None:
    """The finished build of exactly this content, if there is one. Reads one small file."""
    return read_build(data_directory, environment.key)


def current(name: str, data_directory: str | Path) -> Built | None:
    """What `name` stands for now: the last content that was built under it, even if the configuration has changed."""
    record = read_record(name, data_directory)
    return None if record is None else read_build(data_directory, record.key)


def read_build(data_directory: str | Path, key: str) -> Built | None:
    """The finished build of that key; None if its interpreter is gone or it was moved."""
    folder = builds(data_directory) / key
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        known = {item.name for item in fields(Built)}
        lists: dict[str, Any] = {name: tuple(value) for name, value in manifest.items() if isinstance(value, list)}
        lists["warm_modules"] = frozenset(manifest["warm_modules"])
        built = Built(**{name: value for name, value in (manifest | lists).items() if name in known})
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return None
    usable = built.key == key and built.path == str(folder) and os.access(built.executable, os.X_OK)
    return built if usable else None


def write_build(folder: Path, built: Built) -> None:
    """Write the manifest of a build that is otherwise finished."""
    manifest = folder / MANIFEST
    values = asdict(built) | {"warm_modules": sorted(built.warm_modules)}
    manifest.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    manifest.chmod(0o444)


def lock_of(data_directory: str | Path, key: str, *, exclusive: bool) -> FileLock:
    """The lock of one build. Its directory must exist."""
    return FileLock(builds(data_directory) / f"{key}.lock", exclusive=exclusive)


def partial_of(data_directory: str | Path, key: str) -> Path:
    """Where that key is built before it is renamed."""
    return builds(data_directory) / f"{key}.partial"


def sweep(data_directory: str | Path) -> None:
    """Remove what killed builds left behind, but not what is being built."""
    for partial in builds(data_directory).glob("*.partial"):
        with lock_of(data_directory, partial.stem, exclusive=True) as lock:
            if lock.try_take():
                shutil.rmtree(partial, ignore_errors=True)
                lock.release(remove=True)


def read_record(name: str, data_directory: str | Path) -> Record | None:
    """The record of what `name` stands for."""
    try:
        said = json.loads(_record_path(name, data_directory).read_text(encoding="utf-8"))
        return Record(str(said["key"]), tuple(str(key) for key in said["keys"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def recorded(data_directory: str | Path) -> list[str]:
    """Every name that something was built for."""
    files = sorted(builds(data_directory).parent.glob("*.json"))
    return [path.stem for path in files if name_problem(path.stem) is None]


def record(name: str, key: str, data_directory: str | Path) -> None:
    """Let `name` stand for the build `key` from now on."""
    before = read_record(name, data_directory)
    if before is not None and before.key == key:
        return
    # In a read-only directory there is no record, and so no fallback for a later build that fails.
    with suppress(OSError), _records_locked(data_directory):
        before = read_record(name, data_directory)
        keys = dict.fromkeys((*(before.keys if before else ()), key))
        _write_record(name, Record(key, tuple(keys)), data_directory)


def remove(name: str, data_directory: str | Path, *, keys: Iterable[str] = ()) -> Removal:
    """Remove every build of `name` (and `keys`) that no running Paddock uses and no other name stands for.

    The root directories that the profile `chroot` has made of a build are removed with it.
    """
    removal = Removal()
    if not builds(data_directory).is_dir():
        return removal
    with _records_locked(data_directory):
        before = read_record(name, data_directory)
        others = {
            key
            for other in recorded(data_directory)
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
        roots.forget(roots_of(data_directory), builds(data_directory))
    return removal


def roots_of(data_directory: str | Path) -> Path:
    """Where the profile `chroot` keeps root directories made of builds."""
    return builds(data_directory).parents[1] / "roots"


def _remove_build(data_directory: str | Path, key: str) -> bool:
    with lock_of(data_directory, key, exclusive=True) as lock:
        if not lock.try_take():
            return False
        partial = partial_of(data_directory, key)
        shutil.rmtree(partial, ignore_errors=True)
        try:
            (builds(data_directory) / key).rename(partial)  # atomic, so that nobody finds half of it
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
    new.write_text(json.dumps(asdict(written)) + "\n", encoding="utf-8")
    new.replace(path)


def _records_locked(data_directory: str | Path) -> FileLock:
    """Take the lock of all records, for as long as it takes to write a small file or to remove builds."""
    lock = FileLock(builds(data_directory).parent / "records.lock", exclusive=True)
    lock.take(time.sleep)
    return lock


WAIT_SECONDS = 0.05


class FileLock:
    """A lock between processes, shared or exclusive. The kernel drops it with the last process that has it open.

    Several locks in one process exclude each other like those of several processes.
    """

    def __init__(self, path: Path, *, exclusive: bool) -> None:
        self.path = path
        self._kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        """The open file. A child that inherits it holds the lock too."""
        if self._fd is None:
            raise ValueError(f"{self.path} is not locked")
        return self._fd

    def try_take(self) -> bool:
        """Take the lock if that is possible now."""
        while True:
            fd = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(fd, self._kind | fcntl.LOCK_NB)
                # The file may have been removed between the two calls: then this lock would exclude nobody.
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
        """Take the lock, however long others hold it. `waiting` is called once if they do. `pause` may raise."""
        if self.try_take():
            return
        waiting()
        while not self.try_take():
            pause(WAIT_SECONDS)

    def release(self, *, remove: bool = False) -> None:
        """Release the lock. With `remove`, only for exclusive holders, its file is removed too."""
        if self._fd is not None:
            if remove:
                self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> FileLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
