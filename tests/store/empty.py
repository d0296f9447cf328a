"""An empty store of the newest version, migrated once for all tests that are not about migration."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from paddock.store.connection import connect, make_file
from paddock.store.database import migrate


def put(path: Path) -> None:
    """Create an empty store at `path`, unless there is one."""
    if not path.exists():
        make_file(path)
        path.write_bytes(_migrated())


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paddock.db"
        make_file(path)
        connection = connect(path)
        try:
            migrate(connection, path)
        finally:
            connection.close()
        return path.read_bytes()
