"""Builds the default environment first, because otherwise the command builds it and prints that."""

from __future__ import annotations

import pytest

from paddock.jail.environments import Built
from tests.bare import bare

__all__ = ["bare"]


@pytest.fixture(scope="session", autouse=True)
def built(default_environment: Built) -> Built:
    return default_environment
