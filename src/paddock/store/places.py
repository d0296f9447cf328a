"""Where the store lies. A module of its own, because a command that only leaves a run beside it needs no more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.config import Config


def store_path(config: Config) -> Path:
    """Where the database is: `store.path`, else in a folder of the data directory that only this user enters."""
    return Path(config.store.path) if config.store.path else Path(config.data_directory) / "store" / "paddock.db"
