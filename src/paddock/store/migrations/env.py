"""The entry of Alembic. It runs inside the transaction that `Store` holds, and begins none of its own."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
