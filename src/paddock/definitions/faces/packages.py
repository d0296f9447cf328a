"""Which packages a program in Python finds, in words."""

from __future__ import annotations

from paddock.config import Config
from paddock.model.environments import requirement_name

_IMPORTED = {"beautifulsoup4": "bs4"}
"""Those that are imported under another name."""


def listed(config: Config, before: str) -> str:
    """The names to import, after `before`; nothing where there are none."""
    packages = config.environments[config.cpython.environment].packages
    names = [_IMPORTED.get(name, name) for name in map(requirement_name, packages)]
    return f"{before}{', '.join(names)}" if names else ""
