"""Applies a changed configuration to a running server, without touching its runs.

Only settings that are looked up for each run or call can change. The others apply to processes and connections that
already exist, so they need a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.server.services import Services

LIVE = (
    *("server.max_runs", "server.max_waiting", "server.wait_seconds", "server.answer_bytes"),
    *("server.principal_runs", "server.principal_waiting"),
    *("server.principal_runs_per_minute", "server.principal_calls_per_minute"),
    *("tools.policy", "tools.repair", "tools.call_seconds"),
    *("store.run_days", "store.run_count", "store.run_bytes", "store.session_days", "store.definition_versions"),
    *("artifacts.artifact_bytes", "artifacts.principal_bytes", "artifacts.principal_count", "artifacts.days"),
)
"""The settings that can change while a server runs."""


def reload(services: Services, new: Config) -> tuple[list[str], list[str]]:
    """Apply what can change. Returns the names of the settings that have changed, and of those that need a restart.

    Raises ConfigError, and changes nothing, if the new policy is not valid.
    """
    old = services.config
    changed = [name for name in _names(new) if attrgetter(name)(old) != attrgetter(name)(new)]
    applied = [name for name in changed if name in LIVE]
    config = old
    for name in applied:
        table, _, key = name.partition(".")
        config = replace(config, **{table: replace(getattr(config, table), **{key: attrgetter(name)(new)})})
    services.paddock.change_rules(config.tools)  # first, because it raises ConfigError for a bad policy
    services.config = config
    services.store.settings, services.artifacts.settings = config.store, config.artifacts
    services.allowances.settings = config.server
    services.queue.change(config.server)
    needs_restart = [name for name in changed if name not in LIVE]
    services.audit.record("config.reloaded", changed=applied, needs_restart=needs_restart)
    return applied, needs_restart


def _names(settings: Any, above: tuple[str, ...] = ()) -> Iterator[str]:
    for each in fields(settings):
        value = getattr(settings, each.name)
        if is_dataclass(value):
            yield from _names(value, (*above, each.name))
        else:
            yield ".".join((*above, each.name))
