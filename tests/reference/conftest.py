"""Servers that are processes of their own have a store that is gone afterwards."""

from tests.server.conftest import _stored_apart, services, shared  # noqa: F401
