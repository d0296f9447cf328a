"""Landlock: restricts a process's access to files, its use of TCP, and signals and sockets to outside processes."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress

from paddock.jail.walls import privileges
from paddock.jail.walls.syscalls import syscall

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = (1 << 13) - 1
_ON_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_VERSION, _PATH_BENEATH = 1, 1
_ABSENT = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)

TRUNCATE_SINCE = 3
SCOPES_SINCE = 6
"""The first version that can refuse abstract sockets of outside processes, and signals to them."""

_abi: int | None = None


def abi() -> int:
    """The kernel's version of Landlock; 0 without Landlock. TCP needs 4, signals and abstract sockets 6."""
    global _abi  # noqa: PLW0603 - it cannot change, and guests ask for it often
    if _abi is None:
        try:
            _abi = syscall("landlock_create_ruleset", None, 0, _VERSION)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            _abi = 0
    return _abi


def prepare(
    read: Sequence[str],
    write: Sequence[str],
    *,
    execute: bool = True,
    programs: Sequence[str] = (),
    listed: Sequence[str] = (),
    tcp: bool = False,
) -> int:
    """Create a ruleset that many processes can enforce. It allows what is at these paths now, and everything below.

    `write` allows everything but making devices. Without `execute` only `programs` can be executed (libraries can still
    be mapped). Of folders in `listed`, and of those below, only the names can be read. TCP is refused unless `tcp` is
    set; Landlock does not cover UDP. A missing path is an error, except in `read`. Landlock does not cover stat, chmod,
    chown, utime and xattr either: names and metadata stay visible.
    """
    handled = _rights()
    runs = _EXECUTE if execute else 0
    reads = _READ_FILE | _READ_DIR | runs
    writes = handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _EXECUTE) | runs
    ruleset = syscall("landlock_create_ruleset", _attributes(handled, tcp=tcp), 24, 0)
    try:
        for path in read:
            with suppress(FileNotFoundError):
                _allow(ruleset, path, reads)
        for paths, rights in ((write, writes), (programs, _READ_FILE | _EXECUTE), (listed, _READ_DIR)):
            for path in paths:
                _allow(ruleset, path, rights)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def enforce(ruleset: int) -> None:
    """Restrict this thread, and whatever it forks, to a ruleset. Needs no_new_privs.

    Closes the descriptor in this process, because a guest could add rules through it.
    """
    try:
        syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _rights() -> int:
    version = abi()
    rights = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def _attributes(files: int, *, tcp: bool) -> bytes:
    # Trailing fields that an older kernel does not know must be zero.
    refused = _BIND_AND_CONNECT_TCP if abi() >= 4 and not tcp else 0
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if abi() >= SCOPES_SINCE else 0
    return struct.pack("=QQQ", files, refused, scoped)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_A_FILE
        syscall("landlock_add_rule", ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)


def probe() -> str | None:
    """Try Landlock. Returns None if it works here, otherwise the reason."""
    if abi() == 0:
        return "Landlock: not in this kernel; it needs Linux 5.13 with `landlock` in CONFIG_LSM or in lsm= at boot"
    return privileges.attempt(_try)


def _try() -> str | None:
    privileges.no_new_privs()
    enforce(prepare(["/proc"], []))
    try:
        os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
    except PermissionError:
        return None
    return "Landlock: a ruleset was enforced but did not refuse to open /"
