"""The most memory that this process has had. What was before a test is forgotten, or it would hide what that took."""

from __future__ import annotations

from pathlib import Path
from resource import RUSAGE_SELF, getrusage

FORGET_THE_PEAK = "5"


def peak_kb() -> int:
    return getrusage(RUSAGE_SELF).ru_maxrss


def peak_forgotten_kb() -> int:
    """The peak from now on, which is what the process has now."""
    Path("/proc/self/clear_refs").write_text(FORGET_THE_PEAK)
    return peak_kb()
