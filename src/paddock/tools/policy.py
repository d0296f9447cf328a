"""Decides whether a script may call a tool, by a list of rules, how often, and how many calls take place at once.

The first rule that matches decides.

Hints come from the upstream, which may lie. A hint that makes a tool look dangerous is always believed. A rule that
**allows** by hint must name the server whose hints are trusted (`match = "shop.*"`). A false hint can still evade a
rule that restricts by hint, so restrict an untrusted server by its name alone (`match = "other.*"`).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import translate
from typing import Any

from paddock.config_checks import read_table
from paddock.errors import ConfigError
from paddock.model.envelope import policy_denied
from paddock.model.request import LOCAL
from paddock.model.spelling import did_you_mean
from paddock.model.tools import Hints, Tool

ACTIONS = ("allow", "ask", "deny")
HINTS: Mapping[str, tuple[str, bool]] = {
    "read_only": ("read_only", True),
    "writes": ("read_only", False),
    "destructive": ("destructive", True),
    "additive": ("destructive", False),
    "idempotent": ("idempotent", True),
    "open_world": ("open_world", True),
}
"""The name of a hint in a rule: the field of Hints, and the value that it must have."""
_MCP_DEFAULTS = Hints(read_only=False, destructive=True, idempotent=False, open_world=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the policy."""

    match: str
    action: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f", hint = '{self.hint}'" if self.hint else ""
        return f"match = '{self.match}'{hint}, action = '{self.action}'"


class Policy:
    """Decides by the first rule that matches."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self._matches = [re.compile(translate(rule.match)) for rule in self.rules]

    def decide(self, tool: Tool) -> Rule | None:
        """The first rule that matches `tool`. If it is None, the tool is allowed."""
        for rule, pattern in zip(self.rules, self._matches, strict=True):
            if pattern.match(tool.full_name) and (not rule.hint or _has_hint(tool.hints, rule)):
                return rule
        return None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for the calls of every run."""

    policy: Policy | None = None  # None: every tool may be called
    repairs: bool = False  # whether to repair arguments that are nearly right; see `repair`
    call_seconds: float = 60.0


def parse(values: object) -> Policy:
    """The policy that a list of TOML tables describes. Raises ConfigError with the number of the faulty table."""
    if not isinstance(values, (list, tuple)):
        raise ConfigError(
            f'tools.policy must be a list of rules, such as [{{match = "shop.*", action = "ask"}}], not {values!r}'
        )
    return Policy([_rule(value, f"tools.policy[{number}]") for number, value in enumerate(values)])


def refusal(rule: Rule, tool: Tool) -> dict[str, Any]:
    """The envelope for a call that `rule` does not allow."""
    name, needs_approval = tool.full_name, rule.action == "ask"
    allowing = f'{{match = "{name}", action = "allow"}}'
    how = f"Only the operator of this server can allow it, with {allowing} before that rule in [tools] policy."
    summary, hint = f"'{name}' is denied by the rule {rule}.", "Do without this tool."
    if needs_approval:
        summary = (
            f"'{name}' needs the approval of a person (the rule {rule}), and Paddock cannot ask for approvals yet."
        )
        hint = "Tell the user what you would call and why."
    return policy_denied(name, summary, needs_approval=needs_approval, hints=[hint, how])


def _has_hint(hints: Hints, rule: Rule) -> bool:
    """Whether the tool has the rule's hint. For rules that restrict, a missing hint has its MCP default, the worst."""
    name, wanted = HINTS[rule.hint]
    hint = getattr(hints, name)
    if name == "destructive" and hints.read_only and hint is None:
        hint = False  # a read-only tool destroys nothing
    if hint is None and rule.action != "allow":
        hint = getattr(_MCP_DEFAULTS, name)
    return hint is wanted


def _rule(value: Any, where: str) -> Rule:
    rule = read_table(value, Rule, where)
    if rule.action not in ACTIONS:
        raise ConfigError(f"{where}: unknown action {rule.action!r}; {did_you_mean(rule.action, ACTIONS)}")
    if "hint" in value and rule.hint not in HINTS:
        raise ConfigError(f"{where}: unknown hint {rule.hint!r}; {did_you_mean(rule.hint, HINTS)}")
    server = rule.match.partition(".")[0]
    if rule.hint and rule.action == "allow" and ("." not in rule.match or re.search(r"[*?\[]", server)):
        raise ConfigError(
            f"{where}: a rule that allows by hint must name the server that is trusted to tell the truth, "
            f'such as match = "shop.*", not {rule.match!r}: any server may claim to be {rule.hint}'
        )
    return rule


class CallSlots:
    """Limits the calls under way. A free slot goes to the caller with the fewest, and only LOCAL may have all."""

    def __init__(self, count: int) -> None:
        self._free, self._share = count, max(1, count * 3 // 4)
        self._counts: Counter[str] = Counter()  # calls under way, by caller
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by caller; whoever had a turn last is the last

    @asynccontextmanager
    async def take(self, caller: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it during a block."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        self._fill()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():
                self._free += 1
                self._counts -= Counter([caller])  # forgets a caller without calls
                self._fill()

    def _fill(self) -> None:
        while self._free:
            able = [each for each in self._waiting if each == LOCAL or self._counts[each] < self._share]
            if not able:
                return
            caller = min(able, key=lambda each: self._counts[each])
            turns = self._waiting.pop(caller)
            turn = turns.popleft()
            if turns:
                self._waiting[caller] = turns
            if not turn.cancelled():
                turn.set_result(None)
                self._free -= 1
                self._counts[caller] += 1


class RateLimit:
    """Limits the number of calls in any period of a minute. With None there is no limit."""

    def __init__(self, calls_per_minute: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self.calls_per_minute, self._now = calls_per_minute, now
        self._times: deque[float] = deque()

    def take(self) -> float:
        """Count a call and return 0, or return the seconds to wait if there were too many."""
        if self.calls_per_minute is None:
            return 0.0
        now = self._now()
        while self._times and self._times[0] <= now - 60.0:
            self._times.popleft()
        if len(self._times) >= self.calls_per_minute:
            return self._times[-self.calls_per_minute] + 60.0 - now
        self._times.append(now)
        return 0.0
