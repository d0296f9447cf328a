"""What the suite is run with."""

from __future__ import annotations

from tests.tools.installed import installed_clients

__all__ = ["installed_clients"]
