"""Fixtures of the tests of upstreams."""

from __future__ import annotations

from tests.tools.installed import installed
from tests.tools.upstreams import connect, hostile_http, hostile_http_server, serve

__all__ = ["connect", "hostile_http", "hostile_http_server", "installed", "serve"]
