"""Fixtures of the tests of upstreams."""

from __future__ import annotations

from tests.tools.installed import installed
from tests.tools.upstreams import connect, serve

__all__ = ["connect", "installed", "serve"]
