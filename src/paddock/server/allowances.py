"""How often each caller may start runs and call tools: `server.principal_runs_per_minute` and `…_calls_per_minute`."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING

from paddock.errors import Overloaded
from paddock.tools.policy import RateLimit

if TYPE_CHECKING:
    from paddock.config import ServerConfig

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
