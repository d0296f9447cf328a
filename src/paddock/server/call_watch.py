"""What the server does about the tool calls of a caller: it limits and measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.model.tools import Tool
    from paddock.server.services import Services
    from paddock.server.sessions import Caller


class PrincipalCalls:
    """The tool calls of one run, or one call outside of a run, which has been counted already."""

    def __init__(self, services: Services, caller: Caller, run_id: str, *, is_counted: bool = False) -> None:
        self._services, self._caller, self._run_id = services, caller, run_id
        self._is_counted = is_counted

    def take(self) -> float:
        return 0.0 if self._is_counted else self._services.allowances.take_call(self._caller.key)

    def ended(self, tool: Tool | None, outcome: str, seconds: float) -> None:
        if self._services.metrics is not None:
            self._services.metrics.call_ended("" if tool is None else tool.server, outcome, seconds)
