"""Builds the toolbox of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paddock.tools.broker import Rules
from paddock.tools.functions import FunctionTool
from paddock.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.config import Config
    from paddock.tools.mcp_config import Server


def toolbox_of(
    config: Config, functions: Mapping[str, FunctionTool], mcp_config: str | Path | None
) -> tuple[Toolbox, Rules]:
    """The tools of a configuration, and the rules for their calls. Connects to nothing."""
    settings = config.tools
    servers: tuple[Server, ...] = ()
    if config.upstreams or mcp_config is not None:
        from paddock.tools.mcp_config import configured_servers

        servers = configured_servers(config, mcp_config)
    rules = Rules(repairs=settings.repair, call_seconds=settings.call_seconds)
    if settings.policy:
        from paddock.tools.policy import parse

        rules = Rules(parse(settings.policy), settings.repair, settings.call_seconds)
    injection = None
    if config.context or config.connections:
        from paddock.tools import context

        injection, servers = context.parse(config.context, config.connections, servers)
    return Toolbox(functions, servers, patience_seconds=settings.connect_seconds, injection=injection), rules
