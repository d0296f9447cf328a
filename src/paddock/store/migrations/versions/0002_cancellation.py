"""Cancellation of a run by a process other than the one that runs it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("runs", sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.text("0")))
    op.drop_index("ix_runs_going_on", "runs")
    going_on = sa.text("verdict IS NULL")
    op.create_index("ix_runs_going_on", "runs", ["owner", "cancel_requested"], sqlite_where=going_on)
