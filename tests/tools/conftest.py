"""Fixtures of the tests of upstreams."""

from __future__ import annotations

from tests.tools.installed import installed
from tests.tools.upstreams import connect, hostile_http, serve

__all__ = ["connect", "hostile_http", "installed", "serve"]
