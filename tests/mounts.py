"""The mounts of this machine, except the disks that tests of other batches make for a while."""

from __future__ import annotations

from pathlib import Path

TEST_DISK = "test-disk"
"""What such a disk is mounted from, by its name."""


def mounts() -> frozenset[str]:
    """A line for each, without the ids of the mount itself."""
    lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    return frozenset(line.split(" ", 2)[2] for line in lines if f" {TEST_DISK} " not in line)
