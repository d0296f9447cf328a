"""These tests run the command, which builds the default environment where it is not built yet, and says so."""

from __future__ import annotations

import pytest

from paddock.jail.environments import Built
from tests.bare import bare

__all__ = ["bare"]


@pytest.fixture(scope="session", autouse=True)
def built(default_environment: Built) -> Built:
    return default_environment
