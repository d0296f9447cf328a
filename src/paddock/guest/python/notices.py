"""Warnings about a run, in sentences for the model that wrote the script. They are sent with the RESULT.

Files that a script leaves behind are deleted with its jail, so a warning says how to keep them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable

from paddock.guest.python.errors import FILE_NAME
from paddock.guest.python.job import FILES, real_path

MAX_WARNINGS = 20
CHARACTERS = 400
SHOWN_NAMES = 10
SCANNED_ENTRIES = 1000
_SKIPPED = re.compile(
    r"\.|__pycache__$|tmp[a-z0-9_]{8}$|(matplotlib|fontconfig|pymp|joblib|numba)[-_]|fontlist-|.*\.pyc$"
)
"""Hidden files, caches, and files of the `tempfile` module."""
_scandir = os.scandir
_existing: set[str] = set()  # names in the working directory that are not the script's
_kept: set[str] = set()  # file names of artifacts
_texts: dict[str, None] = {}


def warn(text: str) -> None:
    """Add a warning, unless it was added already."""
    if len(_texts) < MAX_WARNINGS:
        _texts[text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"] = None


def collected() -> list[str]:
    """The warnings so far."""
    return list(_texts)


def note_kept(filename: str) -> None:
    """Note that the script created an artifact of this name."""
    _kept.add(filename.rpartition("/")[2])


def clear() -> None:
    """Forget all warnings."""
    _texts.clear()


def note_existing(folder: str) -> None:
    """Remember what is in `folder` before the script runs: the runtime may be mounted below it."""
    with contextlib.suppress(OSError), _scandir(folder) as entries:
        _existing.update(entry.name for entry in entries)


def warn_of_files(folder: str, attached: Iterable[str], *, may_keep: bool) -> None:
    """Warn about new files in `folder` and among the `attached` ones. `may_keep`: the script can create artifacts."""
    if folder == "/":
        return  # a jail in which the script can write nothing
    names = _new_files(folder)
    if others := _new_files(real_path(FILES)):
        names += sorted({real_path(f"{FILES}/{name}") for name in others}.difference(attached))
    names = [name for name in names if name.rpartition("/")[2] not in _kept]
    if not names:
        return
    shown = ", ".join(name[:60] for name in sorted(names)[:SHOWN_NAMES])
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    keep = (
        "keep one with `await create_artifact(name, open(name, 'rb').read())`"
        if may_keep
        else "files are deleted after the run; print what you need of them"
    )
    warn(f"{shown}{more} {'was' if len(names) == 1 else 'were'} written and not kept: {keep}.")


def _new_files(folder: str) -> list[str]:
    """The files in `folder` and below it, except the script's source, hidden files and caches."""
    found: list[str] = []
    folders = [""]
    left = SCANNED_ENTRIES
    while folders and left > 0:
        prefix = folders.pop()
        try:
            with _scandir(f"{folder}/{prefix}") as entries:
                for entry in entries:
                    left -= 1
                    name = f"{prefix}{entry.name}"
                    if left <= 0:
                        break
                    if _SKIPPED.match(entry.name) or name == FILE_NAME or name in _existing:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{name}/")
                    elif entry.is_file(follow_symlinks=False):
                        found.append(name)
        except OSError:
            continue
    return found
