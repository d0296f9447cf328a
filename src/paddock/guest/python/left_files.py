"""Files that a script leaves in its working directory and in /files: sent as artifacts, or named in a warning.

Everything in here runs under the script's limits. The host checks names and sizes again.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from paddock.guest.python import notices, streams
from paddock.guest.python.channel import Channel
from paddock.guest.python.errors import FILE_NAME
from paddock.guest.python.job import FILES, real_path
from paddock.jail.wire import ARTIFACT_BYTES, Kind

SHOWN_NAMES = 10
NAME_CHARACTERS = 60
SCANNED_ENTRIES = 2000
"""How many entries of folders are looked at. One run can keep 1,000 artifacts."""
RUN_BYTES = 64 * 1024 * 1024
"""How many bytes are sent. The host keeps no more in one run."""
_SKIPPED = re.compile(
    r"\.|__pycache__$|tmp[a-z0-9_]{8}$|(matplotlib|fontconfig|pymp|joblib|numba)[-_]|fontlist-|.*\.pyc$"
)
"""Hidden files, caches, and files of the `tempfile` module."""
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Bound now, because a script may replace them.
_scandir, _stat, _open, _read, _close, _fstat = os.scandir, os.stat, os.open, os.read, os.close, os.fstat
_readlink = os.readlink
_existing: set[str] = set()  # names in the working directory that are not the script's
_attached: dict[str, tuple[int, int, int]] = {}  # size, mtime and inode of each attached file, by its path
_kept: dict[str, set[int]] = {}  # hashes of the content of artifacts, by file name


ShowImage = Callable[[str, bytes], str | None]
"""Shows the image in a file, and keeps it. Returns why it was not kept, or "". None: the file is not an image."""


class LeftFile(NamedTuple):
    """A file that the script wrote or changed."""

    name: str  # relative to its folder
    path: str


def note_existing(folder: str) -> None:
    """Remember what is in `folder` before the script runs: the runtime may be mounted below it."""
    with contextlib.suppress(OSError), _scandir(folder) as entries:
        _existing.update(entry.name for entry in entries)


def existed(name: str) -> bool:
    """Whether this was in the working directory before the script ran."""
    return name in _existing


def attach(folder: str, files: Iterable[Mapping[str, Any]], *, is_script: bool) -> None:
    """Link the attached files into the working directory, and remember their state.

    They are links, because copies would take memory.
    """
    for entry in files:
        path = entry["path"]
        name = path.rpartition("/")[2]
        with contextlib.suppress(OSError):
            _attached[path] = _state(path)
            # A program is written to its own name. In a session, the link may be there already.
            if not (is_script and name == FILE_NAME) and not os.path.lexists(f"{folder}/{name}"):
                os.symlink(path, f"{folder}/{name}")  # noqa: PTH211


def note_kept(filename: str, body: bytes) -> None:
    """Note that the script created this artifact."""
    _kept.setdefault(filename.rpartition("/")[2], set()).add(hash(body))


def keep(channel: Channel, folder: str, show_image: ShowImage | None = None) -> None:
    """Send every file that the script left as an artifact. A warning names those that were not kept.

    The next cell of a session leaves only what it changes, and what this one was interrupted before it could send.
    """
    if found := _left_files(folder):
        failures = _send(channel, found, show_image)
        for reason, names in failures.items():
            notices.warn(f"{_shown(names)} {'was' if len(names) == 1 else 'were'} not kept: {reason}.")


def remember(folder: str) -> None:
    """Remember the files of a session as they are: its next cell leaves only what it changes."""
    for file in _left_files(folder):
        _remember(file)


def _remember(file: LeftFile) -> None:
    with contextlib.suppress(OSError):
        _attached[file.path] = _state(file.path)


def warn(folder: str, *, may_keep: bool) -> None:
    """Warn about the files that the script left. `may_keep`: the script can create artifacts."""
    names = [_full_name(file) for file in _left_files(folder) if file.name.rpartition("/")[2] not in _kept]
    if not names:
        return
    keep = (
        "keep one with `await create_artifact(name, open(name, 'rb').read())`"
        if may_keep
        else "files are deleted after the run; print what you need, or use a tool that keeps files, such as run_code"
    )
    notices.warn(f"{_shown(names)} {'was' if len(names) == 1 else 'were'} written and not kept: {keep}.")


def _send(channel: Channel, found: list[LeftFile], show_image: ShowImage | None) -> dict[str, list[str]]:
    """Send the files one by one. Returns the names of those that were not kept, by the reason."""
    failures: dict[str, list[str]] = {}
    bytes_left = RUN_BYTES
    for file in found:
        problem = None
        try:
            body = content(file.path, min(ARTIFACT_BYTES, bytes_left))
        except OSError as error:
            problem = error.strerror or str(error)
        except MemoryError:
            problem = "there is no memory left to read it"
        else:
            if hash(body) not in _kept.get(file.name.rpartition("/")[2], ()):
                bytes_left -= len(body)
                if show_image is not None and (shown := show_image(file.name, body)) is not None:
                    problem = shown or None
                else:
                    header = {"do": "create", "filename": streams.clean(file.name), "mime_type": ""}
                    problem = channel.request_now(Kind.ARTIFACT, header, body).values().get("error")
        _remember(file)
        if problem is not None:
            failures.setdefault(problem, []).append(file.name)
    return failures


def content(path: str, max_bytes: int) -> bytes:
    """The bytes of a regular file. Raises OSError for any other file, and for one that is too large."""
    fd = _open(path, _OPEN_FLAGS)
    try:
        status = _fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no longer a regular file")
        if status.st_size > max_bytes:
            most = (
                f"{ARTIFACT_BYTES // 2**20} MB"
                if status.st_size > ARTIFACT_BYTES
                else f"{RUN_BYTES // 2**20} MB in all"
            )
            raise OSError(f"the files of a run may have at most {most}")
        parts, size = [], 0
        while size <= max_bytes and (part := _read(fd, max_bytes + 1 - size)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        _close(fd)


def _left_files(folder: str) -> list[LeftFile]:
    """The files that are new or changed in the working directory and in /files, sorted by name."""
    if folder == "/":
        return []  # a jail in which the script can write nothing
    found = {file.path: file for file in _scan(real_path(FILES))}
    found |= {file.path: file for file in _scan(folder)}
    return sorted(found.values())


def _scan(folder: str) -> list[LeftFile]:
    """The regular files in `folder` and below it, except the script's source, hidden files, caches and what was there.

    The link to an attached file counts if that file has changed.
    """
    found: list[LeftFile] = []
    folders = [""]
    left = SCANNED_ENTRIES
    while folders and left > 0:
        prefix = folders.pop()
        try:
            with _scandir(f"{folder}/{prefix}") as entries:
                for entry in entries:
                    left -= 1
                    name, path = f"{prefix}{entry.name}", f"{folder}/{prefix}{entry.name}"
                    if left <= 0:
                        notices.warn(f"Only {SCANNED_ENTRIES:,} entries of {folder} were looked at for files to keep.")
                        break
                    if _SKIPPED.match(entry.name) or name == FILE_NAME or name in _existing:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{name}/")
                    elif entry.is_symlink():
                        path = _readlink(path)
                        if path in _attached and _has_changed(path):
                            found.append(LeftFile(name, path))
                    elif entry.is_file(follow_symlinks=False) and (path not in _attached or _has_changed(path)):
                        found.append(LeftFile(name, path))
        except OSError:
            continue
    return found


def _has_changed(path: str) -> bool:
    try:
        return _state(path) != _attached[path]
    except OSError:
        return False


def _state(path: str) -> tuple[int, int, int]:
    status = _stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ino


def _full_name(file: LeftFile) -> str:
    """The name that a warning shows: relative to the working directory, absolute for a file in /files."""
    return file.path if file.path.startswith(f"{real_path(FILES)}/") else file.name


def _shown(names: list[str]) -> str:
    shortened = (name[:NAME_CHARACTERS] for name in sorted(names)[:SHOWN_NAMES])
    shown = ", ".join(name if name.isprintable() else repr(name) for name in shortened)
    return f"{shown} and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else shown
