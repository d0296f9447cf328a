"""What the server does about the tool calls of a principal: it measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.model.tools import Tool
    from paddock.server.services import Services


class PrincipalCalls:
    """The tool calls of one run, or one call outside of a run."""

    def __init__(self, services: Services, principal: str, run_id: str) -> None:
        self._services, self._principal, self._run_id = services, principal, run_id

    def ended(self, tool: Tool | None, outcome: str, seconds: float) -> None:
        if self._services.metrics is not None:
            self._services.metrics.call_ended("" if tool is None else tool.server, outcome, seconds)
