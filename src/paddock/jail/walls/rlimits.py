"""Limits that the kernel keeps per process, or per uid where so marked."""

from __future__ import annotations

import resource
from collections.abc import Mapping

from paddock.jail.walls import child

NAMES = {
    "address_bytes": resource.RLIMIT_AS,  # V8 and BLAS reserve gigabytes: prefer data_bytes
    "core": resource.RLIMIT_CORE,
    "cpu_seconds": resource.RLIMIT_CPU,
    "data_bytes": resource.RLIMIT_DATA,
    "file_bytes": resource.RLIMIT_FSIZE,
    "memlock": resource.RLIMIT_MEMLOCK,
    "msgqueue": resource.RLIMIT_MSGQUEUE,  # per uid
    "nice": resource.RLIMIT_NICE,
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,  # per uid; does not bind root
    "rtprio": resource.RLIMIT_RTPRIO,
    "sigpending": resource.RLIMIT_SIGPENDING,  # per uid; each timer of timer_create holds one
    "stack_bytes": resource.RLIMIT_STACK,
}

# Of every guest, whatever the request says.
DEFAULTS: Mapping[str, int] = {
    "core": 0,
    "memlock": 64 * 1024,
    "msgqueue": 0,
    "nice": 0,
    "open_files": 1024,
    "rtprio": 0,
    "sigpending": 1024,
    "stack_bytes": 8 * 1024 * 1024,
}


def apply(limits: Mapping[str, int]) -> None:
    """Set these for the calling process and its children, for good: soft and hard.

    A limit that is already lower stays. The signals of `cpu_seconds` and `file_bytes` are SIGKILL and SIGXFSZ.
    """
    for name, value in limits.items():
        if name not in NAMES:
            raise ValueError(f"rlimit {name!r} is unknown; known are {', '.join(NAMES)}")
        if value < 0:
            raise ValueError(f"rlimit {name} is {value}; it must be 0 or more")  # -1 would be "unlimited"
        _, hard = resource.getrlimit(NAMES[name])
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(NAMES[name], (lower, lower))


def probe() -> str | None:
    """None if limits can be set here, else why not."""
    return child.attempt(_try)


def _try() -> str | None:
    apply(DEFAULTS)
    wrong = [name for name, value in DEFAULTS.items() if resource.getrlimit(NAMES[name])[1] > value]
    return f"rlimits: {', '.join(wrong)} did not take effect" if wrong else None
