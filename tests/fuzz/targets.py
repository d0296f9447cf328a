"""All fuzz targets: what the host reads from a guest, a caller, an upstream or a file of its own."""

from __future__ import annotations

from tests.fuzz import from_callers, from_clients, from_files, from_guests, from_upstreams
from tests.fuzz.target import TARGETS, Run, Target

__all__ = ["TARGETS", "Run", "Target", "from_callers", "from_clients", "from_files", "from_guests", "from_upstreams"]
