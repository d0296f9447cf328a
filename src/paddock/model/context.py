"""What a server holds for a session and adds to tool calls: no script sees it, and none can pass it by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Context:
    """What is set, by the names of fields, and which connection is chosen, by server. Changes while runs go on."""

    values: dict[str, str] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)  # for this run alone, before what the session has

    def of_run(self, chosen: Mapping[str, str]) -> Context:
        """The same for one run, which has connections of its own."""
        return Context(self.values, self.connections, chosen)

    def connection(self, server: str) -> str | None:
        return self.chosen.get(server) or self.connections.get(server)
