"""The root directory that guests see. The warden builds it once; each guest mounts private file systems in it.

It consists of read-only bind mounts of the host's directories, at the same paths, and a few small files of our own.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from paddock.jail.walls.syscalls import syscall

READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
AT_RECURSIVE = 0x8000
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1"}
PRIVATE_FOLDERS = ("/tmp", "/files", "/dev/shm")  # noqa: S108  paths in the new root
KEPT = "/.kept"
"""Where sources below PRIVATE_FOLDERS are mounted a second time: see `Root.kept`."""
GUEST_MOUNT = "/run"
"""Where a guest's own file system is mounted. Its private folders are bind mounts from there."""
INNER_FOLDERS = tuple((path, f"{GUEST_MOUNT}/{number}") for number, path in enumerate(PRIVATE_FOLDERS))
TEXTS = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/false\nguest:x:1000:1000:guest:/tmp:/bin/sh\n"
    "nobody:x:65534:65534:guest:/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\nguest:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    syscall("mount", source.encode(), target.encode(), kind.encode() if kind else None, flags, options.encode() or None)


class Source:
    """A directory or file of the host, opened while it is still reachable. `fd` is None if it does not exist."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.link = str(Path(path).readlink()) if Path(path).is_symlink() else None
        self.fd: int | None = None
        with suppress(FileNotFoundError):
            self.fd = os.open(path, os.O_PATH | os.O_CLOEXEC)

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class Root(NamedTuple):
    """What a guest needs to know about the root."""

    has_proc: bool
    kept: Mapping[str, str]
    """Maps the path of each source below a private folder to its second mount, which is needed because the guest's own
    file system hides the first."""


def build_root(
    root: str,
    sources: Iterable[Source],
    devices: Iterable[str] = DEVICES,
    writable: Iterable[Source] = (),
    texts: Mapping[str, str] = MappingProxyType({}),
    hidden: Collection[str] = (),
) -> Root:
    """Build the new root at `root` and enter it. The old root is unreachable afterwards.

    `writable` are the directories of the host that stay writable. `texts` are files besides TEXTS. Directories in
    `hidden`, which are real paths, are empty in the new root. The caller must be the first process of a pid namespace,
    in its own mount and user namespaces.
    """
    kept: dict[str, str] = {}
    mount("none", "/", None, REC | PRIVATE)
    mount("paddock", root, "tmpfs", NO_SUID | NO_DEV, "mode=755,size=4m,nr_inodes=4096")
    for source in sorted(sources, key=lambda source: source.path):
        if source.fd is not None:
            _bind(source, root, hidden=hidden)
            if source.link is None and source.path.startswith(tuple(f"{private}/" for private in PRIVATE_FOLDERS)):
                kept[source.path] = f"{KEPT}/{len(kept)}"
                _bind(source, root, at=kept[source.path], hidden=hidden)
    for source in writable:
        _bind(source, root, writable=True)
    for name in devices:
        _bind(Source(f"/dev/{name}"), root, devices=True)
    for path, target in LINKS.items():
        (Path(root) / path.lstrip("/")).symlink_to(target)
    for path in (*PRIVATE_FOLDERS, GUEST_MOUNT, "/proc", "/etc"):
        (Path(root) / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, text in {**TEXTS, **texts}.items():
        if not (Path(root) / path.lstrip("/")).exists():  # an installer sees some of the host's own
            (Path(root) / path.lstrip("/")).write_text(text)
    has_proc = _mount_proc(f"{root}/proc")
    os.chdir(root)
    syscall("pivot_root", b".", b".")  # the old root is now stacked on the new one
    syscall("umount2", b".", DETACH)
    os.chdir("/")
    mount("none", "/", None, REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEV)
    return Root(has_proc, kept)


def _bind(
    source: Source,
    root: str,
    *,
    at: str | None = None,
    devices: bool = False,
    writable: bool = False,
    hidden: Collection[str] = (),
) -> None:
    target = Path(root) / (at or source.path).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        return  # inside a directory that is mounted already
    if source.link is not None:
        target.symlink_to(source.link)
        return
    path = f"/proc/self/fd/{source.fd}"
    target.mkdir() if os.path.isdir(path) else target.touch()  # noqa: PTH112  through the open fd
    # The mount is recursive: an unprivileged user cannot leave out what is mounted below a directory.
    mount(path, str(target), None, BIND | REC)
    real = os.readlink(path)  # noqa: PTH115
    for folder in hidden:
        if folder.startswith(f"{real}/") and (inside := target / folder[len(real) + 1 :]).is_dir():
            mount("paddock", str(inside), "tmpfs", NO_SUID | NO_DEV, "mode=755,size=4k,nr_inodes=1")
    _restrict(str(target), devices=devices, writable=writable)


def _restrict(target: str, *, devices: bool, writable: bool) -> None:
    """Make a mount and all mounts below it read-only and without setuid and devices, except as the caller says."""
    rdonly, nosuid, nodev = 1, 2, 4
    flags = nosuid | (0 if writable else rdonly) | (0 if devices else nodev)
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    at_fdcwd = -100
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    syscall("mount_setattr", at_fdcwd, target.encode(), AT_RECURSIVE, buffer, len(attributes))


def _mount_proc(target: str) -> bool:
    try:
        mount("proc", target, "proc", NO_SUID | NO_DEV | NO_EXEC, "subset=pid")
    except OSError:
        return False
    return True


def make_private(owner: int, size_bytes: int, inodes: int, root: Root) -> None:
    """Give the calling guest its own file system under /tmp, /files and /dev/shm, and its own /proc.

    The caller must have its own mount and pid namespaces, and must give up the right to mount afterwards.
    """
    options = f"size={size_bytes},nr_inodes={inodes},mode=755,uid={owner},gid={owner}"
    mount("paddock", GUEST_MOUNT, "tmpfs", NO_SUID | NO_DEV, options)
    for path, inner in INNER_FOLDERS:
        os.mkdir(inner)  # noqa: PTH102  every guest does this
        os.chown(inner, owner, owner)
        mount(inner, path, None, BIND)
    for path, elsewhere in root.kept.items():
        if os.path.isdir(elsewhere):  # noqa: PTH112
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            os.mknod(path)
        mount(elsewhere, path, None, BIND | REC)  # stays read-only
    if root.has_proc:
        # Read-only, because otherwise the guest could write to oom_score_adj, mem and other files in /proc/self. The
        # reaper is hidden, because its command line and control groups reveal facts about the host.
        mount("proc", "/proc", "proc", READ_ONLY | NO_SUID | NO_DEV | NO_EXEC, "subset=pid,hidepid=2")
