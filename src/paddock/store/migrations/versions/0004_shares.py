"""What each principal takes of the limits of `[store]`, read from an index."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.drop_index("ix_runs_listed", "runs")
    op.create_index(
        "ix_runs_listed", "runs", ["principal", "started_at", "verdict", "session", "definition", "size_bytes"]
    )
