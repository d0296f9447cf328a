"""Alembic's entry: runs inside the transaction that `migrating.py` holds, and makes none of its own."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
