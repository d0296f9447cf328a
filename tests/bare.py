"""A configuration whose full Python has no packages, for scripts that need none: it starts much sooner."""

from __future__ import annotations

from paddock.config import Config, GuestsConfig
from paddock.model.environments import EnvironmentConfig

BARE = Config(
    environments={**Config().environments, "bare": EnvironmentConfig()}, cpython=GuestsConfig(environment="bare")
)
