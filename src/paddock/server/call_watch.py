"""What the server does about a caller's tool calls: limit and measure them, and record what the policy refuses."""

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
        self._refused: set[tuple[str, str]] = set()  # what was recorded already: a script may call in a loop

    def take(self) -> float:
        return 0.0 if self._is_counted else self._services.allowances.take_call(self._caller.key)

    def refused(self, tool: Tool, action: str, rule: str) -> None:
        if (tool.full_name, rule) in self._refused:
            return
        self._refused.add((tool.full_name, rule))
        self._services.audit.record(
            f"policy.{action}", principal=self._caller.principal, run_id=self._run_id, tool=tool.full_name, rule=rule
        )

    def ended(self, tool: Tool | None, outcome: str, seconds: float) -> None:
        if self._services.metrics is not None:
            self._services.metrics.call_ended("" if tool is None else tool.server, outcome, seconds)
