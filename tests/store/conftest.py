"""Each test has its own store in a real file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paddock.store.database import Store
from tests.store import empty


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "paddock.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    empty.put(path)
    async with Store(path) as store:
        yield store
