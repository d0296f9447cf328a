"""The first version. Its tables are created from `tables.py`; a later version changes them here."""

from __future__ import annotations

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Do nothing: no file has an older version."""
