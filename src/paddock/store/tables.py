"""The tables, in SQLAlchemy Core. Times are seconds since 1970; ids are random; secrets are removed beforehand.

A change here needs a migration: `migrations/versions` creates these tables. Importing this module imports SQLAlchemy,
which takes as long as starting a server. So the store imports it inside functions that run in its threads.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, PrimaryKeyConstraint, Table, Text

__all__ = ["artifact_objects", "artifacts", "calls", "definitions", "metadata", "runs", "sa", "sessions", "tokens"]

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

_RUNNING, _CURRENT = sa.text("verdict IS NULL"), sa.text("is_current")

# Long columns come last: SQLite reads a row only up to the last column that a query names.
runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal", Text, nullable=False),
    Column("session", Text, key="connection"),  # the name is that of earlier versions
    Column("definition", Text),
    Column("idempotency_key", Text),
    Column("request_digest", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("engine", Text),
    Column("owner", Text, nullable=False),  # the process that runs it: see `ProcessLock`
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("verdict", Text),  # NULL while it runs
    Column("size_bytes", Integer, nullable=False),  # of the texts below and of its calls, for retention
    Column("code", Text, nullable=False),
    Column("stdout_so_far", Text, nullable=False, server_default=""),
    Column("stderr_so_far", Text, nullable=False, server_default=""),
    Column("result_json", Text),  # NULL while it runs
    # Polled by the owner. It comes after the long columns, because a migration added it.
    Column("cancel_requested", Boolean, nullable=False, server_default=sa.text("0")),
    sa.UniqueConstraint("principal", "idempotency_key"),
    # Covering indexes, so that lists can be filtered and sizes summed without reading rows.
    Index("ix_runs_listed", "principal", "started_at", "verdict", "connection", "definition", "size_bytes"),
    Index("ix_runs_kept", "started_at", "verdict", "size_bytes"),
    Index("ix_runs_going_on", "owner", "cancel_requested", sqlite_where=_RUNNING),
)

# Without a foreign key to `runs`: a tool that is called outside a run is journalled too.
calls = Table(
    "calls",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tool", Text, nullable=False),
    Column("is_read_only", Boolean, nullable=False),
    Column("at", Float, nullable=False),
    Column("status", Text),  # NULL until the call has ended, and forever if the host died first
    Column("milliseconds", Float),
    Column("size_bytes", Integer, nullable=False),  # of the two texts below
    Column("arguments_json", Text, nullable=False),
    Column("answer_json", Text),
    PrimaryKeyConstraint("run_id", "number"),
    Index(None, "tool", "at"),
    Index(None, "at"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal", Text, nullable=False),
    Column("session", Text),
    Column("run_id", Text),
    Column("filename", Text, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Index(None, "principal", "session", "filename", "created_at"),
    Index(None, "principal", "created_at"),
    Index(None, "run_id"),
    Index(None, "expires_at"),
)

# Every object that holds bytes of artifacts, recorded before it is written and until after it is deleted.
artifact_objects = Table(
    "artifact_objects",
    metadata,
    Column("object_key", Text, primary_key=True),
    Column("artifact_id", Text),  # NULL: it belongs to no artifact yet, or no longer
    Column("number", Integer, nullable=False),  # the order of the objects in an artifact
    Column("size", BigInteger, nullable=False),
    Column("delete_after", Float),  # NULL while it belongs to an artifact
    Column("is_doomed", Boolean, nullable=False),  # being deleted: no artifact may use it
    Index(None, "artifact_id", "number"),
    Index(None, "delete_after"),
)

definitions = Table(
    "definitions",
    metadata,
    Column("principal", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("is_current", Boolean, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("removed_at", Float),
    Column("spec_json", Text, nullable=False),
    PrimaryKeyConstraint("principal", "name", "version"),
    Index("ix_definitions_current", "principal", "name", unique=True, sqlite_where=_CURRENT),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("state_json", Text, nullable=False),
    Index(None, "principal", "seen_at"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False),  # SHA-256 of the token's text
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Index(None, "principal"),
)
