"""The entry point of Alembic. It runs inside the transaction of `Store` and begins none itself."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
