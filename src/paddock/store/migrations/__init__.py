"""Alembic migrations, which update a database to the current schema. A released migration is never changed."""
