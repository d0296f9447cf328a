"""The profiles as the host sees them: which may be tried here, in which order, and what each is started with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paddock.jail.spec import Spec
from paddock.jail.walls.mounts import PRIVATE_PLACES
from paddock.jail.walls.namespaces import Identities

if TYPE_CHECKING:
    from paddock.config import Config

ORDER = ("namespaces", "chroot", "confined")
SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/usr/bin", "/lib", "/lib64", "/lib32", "/bin"),
    *("/usr/share/zoneinfo", "/usr/share/ca-certificates", "/etc/ssl/certs", "/etc/ld.so.cache"),
)
"""What programs of the system need to run: libraries, tools, time zones, certificates. No setting, no secret."""
UIDS = 1 << 16


@dataclass(frozen=True, slots=True)
class Inside:
    """What guests find: a runtime, and files to read at the same path as outside."""

    runtime: str
    reads: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    system: tuple[str, ...] = SYSTEM


def wanted(config: Config) -> tuple[str, ...]:
    """The profiles that the configuration lets us try, the best first."""
    return ORDER if config.jail.profile == "auto" else (config.jail.profile,)


def refusal(profile: str, config: Config, reads: Sequence[str] = ()) -> str | None:
    """Why this profile is not even tried, for guests that must read these paths; None where it is."""
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110
        return "/proc is not there, by which guests are counted and ended: mount it"
    if profile == "chroot" and os.geteuid() != 0:
        return "only root can change the root directory; as an ordinary user, allow user namespaces instead"
    for path in reads if profile == "chroot" else ():
        if path.startswith(tuple(f"{place}/" for place in PRIVATE_PLACES)):
            return (
                f"{path} would be hidden by what each guest has there for itself; set data_directory to another place"
            )
    if profile == "confined" and not config.jail.accept_confined:
        return "it promises less than the others (docs/security.md): set jail.accept_confined to use it all the same"
    return None


def spec(profile: str, config: Config, inside: Inside, *, memfds: bool) -> Spec:
    """What a zygote of this profile is told."""
    jail = config.jail
    return Spec(
        profile=profile,
        runtime=inside.runtime,
        reads=(*inside.system, *inside.reads),
        whole=inside.whole,
        preload=inside.preload,
        warm=inside.warm,
        program=inside.program,
        own_uids=os.geteuid() == 0,
        uid_base=jail.uid_base,
        uid_count=UIDS,
        place=os.path.join(os.path.abspath(os.path.expanduser(config.data_directory)), "roots"),  # noqa: PTH100, PTH111, PTH118
        memory_folders=tuple(filter(None, (os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm"))),  # noqa: S108
        memfds=memfds,
        tmp_bytes=jail.tmp_bytes,
        tmp_inodes=jail.tmp_inodes,
        trace=jail.trace_denied,
    )


def identities(profile: str, config: Config) -> Identities | None:
    """The ids of its user namespace, where it has one."""
    if profile != "namespaces":
        return None
    if os.geteuid() == 0:
        # Above those of `chroot`, which ends all processes of an id: those of another Paddock must not be among them.
        first = config.jail.uid_base + UIDS
        return Identities(0, first, first, UIDS)
    return Identities(0, os.getuid(), os.getgid(), 1)
