"""Forks the process of a session: a copy of its memory, with its own streams, control socket and working directory."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time

from paddock.guest.python import left_files, limits

PREFIX = ".fork-"
"""How the names of the working directories of forks begin. They are in that of the first process."""
NO_PROCESS = "for a moment it needs two more processes than limits.processes allows: raise that, or end some"
_fork, _waitpid, _exit, _sleep = os.fork, os.waitpid, os._exit, time.sleep


def fork(descriptors: list[int], folder: str) -> tuple[socket.socket, str] | None:
    """Fork. Returns the new process's control socket and working directory there, and None here.

    If that is not possible, writes the reason to what would be the stderr of the new process. `folder` is the working
    directory of the session, which is copied.
    """
    control, out, error = descriptors
    try:
        _require_one_thread()
        copy = _copy(folder)
        pid = _fork()
    except (OSError, RuntimeError) as problem:
        _refuse(error, problem)
        _close(descriptors)
        return None
    if pid:
        _close(descriptors)
        with contextlib.suppress(ChildProcessError):  # the script ignores SIGCHLD
            _waitpid(pid, 0)
        return None
    between = os.getpid()
    try:
        if _fork():  # so that the new process is not a child that the script could wait for
            _exit(0)
    except OSError as problem:
        _refuse(error, problem)
        _exit(0)
    while os.getppid() == between:  # what is still below the first process is stopped with it
        _sleep(0.0002)
    os.dup2(out, 1)
    os.dup2(error, 2)
    os.close(out)
    os.close(error)
    _enter(folder, copy)
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, control), copy


def _refuse(error: int, problem: Exception) -> None:
    why = NO_PROCESS if isinstance(problem, BlockingIOError) else str(problem)
    os.write(error, why.encode(errors="replace"))


def _require_one_thread() -> None:
    count = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if count > 1:
        raise RuntimeError(
            f"it has {count - 1} more threads, and a fork would have only one of them; end them first (polars keeps "
            "its threads)"
        )


def _copy(folder: str) -> str:
    """Copy the files and folders in `folder`, and return where they are."""
    import shutil

    def unwanted(parent: str, names: list[str]) -> list[str]:
        special = [name for name in names if not _is_copied(f"{parent}/{name}")]
        if parent != folder:
            return special
        # The runtime may be mounted below the working directory.
        return [*special, *(name for name in names if name.startswith(PREFIX) or left_files.existed(name))]

    free = limits.free_bytes(folder)

    def copy_file(source: str, target: str, *, follow_symlinks: bool = True) -> None:
        nonlocal free
        free -= os.path.getsize(source)  # noqa: PTH202
        if free < 0:  # the kernel would end the session
            raise OSError(errno.ENOMEM, "its limit of memory has no room for a copy", source)
        shutil.copyfile(source, target, follow_symlinks=follow_symlinks)

    root, _, last = folder.rpartition("/")
    copy = f"{root if last.startswith(PREFIX) else folder}/{PREFIX}{os.urandom(4).hex()}"
    try:
        shutil.copytree(folder, copy, symlinks=True, ignore=unwanted, copy_function=copy_file)
    except shutil.Error as problem:
        shutil.rmtree(copy, ignore_errors=True)
        raise RuntimeError(f"its files cannot be copied: {problem.args[0][0][2]}") from None
    return copy


def _is_copied(path: str) -> bool:
    return os.path.islink(path) or os.path.isdir(path) or os.path.isfile(path)  # noqa: PTH112, PTH113, PTH114


def _enter(folder: str, copy: str) -> None:
    """Move from `folder`, or a folder in it, to the same one in `copy`."""
    here = os.getcwd()  # noqa: PTH109
    if here == folder or here.startswith(f"{folder}/"):
        os.chdir(copy + here[len(folder) :])
    sys.path[:] = [copy if entry == folder else entry for entry in sys.path]


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
