"""Values that the server holds for a session and adds to tool calls. Scripts can neither read nor pass them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LOCAL = "local"
"""The only principal, for now: the user of the command line, or a client of a server on loopback."""


@dataclass(slots=True)
class Context:
    """The session's values by field name, and the selected connections by server. May change while runs are active."""

    values: dict[str, str] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)  # connections of this run, which override the session's

    def of_run(self, chosen: Mapping[str, str]) -> Context:
        """This context with other connections, for one run."""
        return Context(self.values, self.connections, chosen)

    def connection(self, server: str) -> str | None:
        return self.chosen.get(server) or self.connections.get(server)
