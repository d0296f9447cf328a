"""How often each caller may start runs (`server.principal_runs_per_minute`) and call tools (`…_calls_per_minute`)."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING

from paddock.errors import Overloaded
from paddock.tools.policy import RateLimit

if TYPE_CHECKING:
    from paddock.config import ServerConfig
    from paddock.model.tools import Tool
    from paddock.server.services import Services
    from paddock.server.sessions import Caller

MAX_CALLERS = 10_000
"""Beyond this number, the caller that was idle longest is forgotten."""


class Allowances:
    """What callers have used of their allowances in the last minute."""

    def __init__(self, settings: ServerConfig) -> None:
        self.settings = settings
        self._limits: OrderedDict[tuple[str, str], RateLimit] = OrderedDict()  # least recently used first

    def check_run(self, caller: str) -> None:
        """Count a run. Raises Overloaded if the caller has started too many."""
        if seconds := self._take("run", caller, self.settings.principal_runs_per_minute):
            raise Overloaded("you have started as many runs as this server allows in a minute", seconds)

    def check_call(self, caller: str) -> None:
        """Count a tool call. Raises Overloaded if the caller has made too many."""
        if seconds := self.take_call(caller):
            raise Overloaded("you have made as many tool calls as this server allows in a minute", seconds)

    def take_call(self, caller: str) -> float:
        """Count a tool call and return 0, or return the seconds to wait if the caller has made too many."""
        return self._take("call", caller, self.settings.principal_calls_per_minute)

    def _take(self, what: str, caller: str, per_minute: int) -> float:
        if not per_minute:
            return 0.0
        limit = self._limits.setdefault((what, caller), RateLimit(per_minute))
        limit.calls_per_minute = per_minute
        self._limits.move_to_end((what, caller))
        while len(self._limits) > 2 * MAX_CALLERS:
            self._limits.popitem(last=False)
        return math.ceil(limit.take() * 10) / 10  # rounded up: 0 would mean that there is nothing to wait for


class PrincipalCalls:
    """Limits and measures the tool calls of one run, and records what the policy refuses.

    With `is_counted` it is for a single call outside of a run, which counts towards the allowance already.
    """

    def __init__(self, services: Services, caller: Caller, run_id: str, *, is_counted: bool = False) -> None:
        self._services, self._caller, self._run_id = services, caller, run_id
        self._is_counted = is_counted
        self._refused: set[tuple[str, str]] = set()  # recorded once each: a script may call in a loop

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
