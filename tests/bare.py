"""Full Python without packages: its first process imports nothing, and takes a fraction of the default one's time."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock import Config
from paddock.config import GuestsConfig
from paddock.jail.environment_build import build
from paddock.jail.environments import configured
from paddock.model.environments import EnvironmentConfig

BARE = Config(
    environments={**Config().environments, "bare": EnvironmentConfig()}, cpython=GuestsConfig(environment="bare")
)
FILE = """
[environments.bare]
packages = []
preload = []
[cpython]
environment = "bare"
min_waiting = 1
max_waiting = 1
"""


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a configuration file with it; it is built, so that no command says that it builds it."""
    build(configured(BARE, "bare"), BARE.data_directory)
    path: Path = tmp_path_factory.mktemp("bare") / "bare.toml"
    path.write_text(FILE)
    return str(path)
