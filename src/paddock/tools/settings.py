"""The tools that a configuration speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from paddock.errors import ConfigError
from paddock.tools.broker import Rules
from paddock.tools.functions import FunctionTool
from paddock.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.config import Config
    from paddock.tools.server import Server


def toolbox_of(
    config: Config, functions: Mapping[str, FunctionTool], mcp_config: str | Path | None
) -> tuple[Toolbox, Rules]:
    """The tools of a Paddock, and what holds for their calls. Nothing is connected."""
    settings = config.tools
    servers = _servers(config, mcp_config)
    rules = Rules(repairs=settings.repair, call_seconds=settings.call_seconds)
    if settings.policy:
        from paddock.tools.policy import parse

        rules = Rules(parse(settings.policy), settings.repair, settings.call_seconds)
    injection = None
    if config.context or config.connections:
        from paddock.tools import injection_settings

        injection, servers = injection_settings.parse(config.context, config.connections, servers)
    return Toolbox(functions, servers, patience_seconds=settings.connect_seconds, injection=injection), rules


def _servers(config: Config, mcp_config: str | Path | None) -> tuple[Server, ...]:
    if not config.upstreams and mcp_config is None:
        return ()
    from paddock.tools.upstream_config import origin_of, parse_tables, read

    found = {server.name: server for server in parse_tables(config.upstreams)}
    for server in () if mcp_config is None else read(mcp_config):
        if server.name in found:
            other = origin_of(config.upstreams[server.name])
            raise ConfigError(f"{mcp_config}: the upstream {server.name!r} is in {other} too; rename one")
        found[server.name] = server
    _told_apart(found)
    return tuple(found.values())


def _told_apart(names: Iterable[str]) -> None:
    """Refuse servers of which one could offer a tool that has the full name of another one's."""
    known = set(names)
    for name in known:
        dots = (place for place, mark in enumerate(name) if mark == ".")
        if (other := next((name[:place] for place in dots if name[:place] in known), None)) is not None:
            raise ConfigError(
                f"the upstream {name!r} is named like a tool of the upstream {other!r}: "
                "their tools could not be told apart; rename one"
            )
