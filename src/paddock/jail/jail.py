"""Which jail this machine can build, and a pool of guests in it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from paddock.jail.keeper import Keeper
from paddock.jail.pool import Pool
from paddock.jail.spec import Spec
from paddock.jail.walls import cgroup
from paddock.jail.walls.namespaces import Identities

if TYPE_CHECKING:
    from paddock.config import Config

SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32", "/usr/bin", "/lib", "/lib64", "/lib32", "/bin"),
    *("/usr/share/zoneinfo", "/usr/share/ca-certificates", "/etc/ssl/certs", "/etc/ld.so.cache", "/etc/localtime"),
)
"""What programs of the system need to run: libraries, tools, time zones, certificates. No setting, no secret."""
UID_BASE = 1 << 20
UID_COUNT = 1 << 16


def pool_for(config: Config, runtime: str) -> Pool:
    """Guests for `runtime`, in the strongest jail that this machine can build."""
    root = os.geteuid() == 0
    spec = Spec(
        profile="namespaces",
        runtime=runtime,
        reads=(*SYSTEM, sys.base_prefix),
        own_uids=root,
    )
    identities = Identities(0, UID_BASE, UID_BASE, UID_COUNT) if root else Identities(0, os.getuid(), os.getgid(), 1)

    async def start() -> Keeper:
        return await Keeper.start(sys.executable, spec, identities)

    controllers = cgroup.available()
    slots = cgroup.Slots(controllers) if controllers is not None else None
    return Pool(start, floor=1, ceiling=8, most=32, idle_seconds=30, slots=slots)
