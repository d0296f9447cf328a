"""Fixtures of the server tests: services, and temporary stores for servers in separate processes."""

from tests.server.conftest import _stored_apart, services, shared  # noqa: F401
