"""How many files and sockets this process may have open, and what follows from that."""

from __future__ import annotations

MOST = 65_536
"""Some programs take long to start where more descriptors are allowed."""
_original: int | None = None  # the soft limit that this process was started with


def limit() -> int:
    """How many descriptors this process may have."""
    import resource  # not on Windows

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_limit() -> None:
    """Raise the soft limit to the hard one, for a process of our own. Children get the old one: `original_limit`."""
    import resource

    global _original  # noqa: PLW0603
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
        _original = soft


def original_limit() -> int:
    """The soft limit for programs that we start: many cannot use a descriptor above 1023."""
    return limit() if _original is None else _original
