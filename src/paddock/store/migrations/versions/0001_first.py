"""Runs, calls, artifacts, definitions, sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("session", sa.Text),
        sa.Column("definition", sa.Text),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("request_digest", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("engine", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
        sa.Column("verdict", sa.Text),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("stdout_so_far", sa.Text, nullable=False, server_default=""),
        sa.Column("stderr_so_far", sa.Text, nullable=False, server_default=""),
        sa.Column("result_json", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("principal", "idempotency_key", name="uq_runs_principal_idempotency_key"),
    )
    op.create_index("ix_runs_listed", "runs", ["principal", "started_at", "verdict", "session", "definition"])
    op.create_index("ix_runs_kept", "runs", ["started_at", "verdict", "size_bytes"])
    going_on = sa.text("verdict IS NULL")
    op.create_index("ix_runs_going_on", "runs", ["owner"], sqlite_where=going_on)
    op.create_table(
        "calls",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("is_read_only", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("status", sa.Text),
        sa.Column("milliseconds", sa.Float),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("arguments_json", sa.Text, nullable=False),
        sa.Column("answer_json", sa.Text),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_calls"),
    )
    op.create_index("ix_calls_tool_at", "calls", ["tool", "at"])
    op.create_index("ix_calls_at", "calls", ["at"])
    op.create_table(
        "artifacts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("session", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("filename", sa.Text, nullable=False),
        sa.Column("mime_type", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    names = ["principal", "session", "filename", "created_at"]
    op.create_index("ix_artifacts_principal_session_filename_created_at", "artifacts", names)
    op.create_index("ix_artifacts_principal_created_at", "artifacts", ["principal", "created_at"])
    op.create_index("ix_artifacts_run_id", "artifacts", ["run_id"])
    op.create_index("ix_artifacts_expires_at", "artifacts", ["expires_at"])
    op.create_table(
        "artifact_objects",
        sa.Column("object_key", sa.Text, nullable=False),
        sa.Column("artifact_id", sa.Text),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("delete_after", sa.Float),
        sa.Column("is_doomed", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("object_key", name="pk_artifact_objects"),
    )
    op.create_index("ix_artifact_objects_artifact_id_number", "artifact_objects", ["artifact_id", "number"])
    op.create_index("ix_artifact_objects_delete_after", "artifact_objects", ["delete_after"])
    op.create_table(
        "definitions",
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("is_current", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("removed_at", sa.Float),
        sa.Column("spec_json", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("principal", "name", "version", name="pk_definitions"),
    )
    current = sa.text("is_current")
    op.create_index("ix_definitions_current", "definitions", ["principal", "name"], unique=True, sqlite_where=current)
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("state_json", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_principal_seen_at", "sessions", ["principal", "seen_at"])
