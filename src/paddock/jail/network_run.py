"""What one run does with its network: its policy, the names it resolved, and each connection that it tried to make."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass, field

from paddock.jail.sock_diag import Connected
from paddock.model.network import Address, NetworkPolicy
from paddock.model.result import Connection

MAX_NAMES = 1000
"""How many names a run may resolve, and how many denials are recorded."""


@dataclass(slots=True, eq=False)
class Attempt:
    """One connection that a script tried to make."""

    host: str
    address: Address | None
    port: int | None
    outcome: str = "connecting"
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    bytes: int | None = None
    earlier_bytes: int = 0  # of a connection that an earlier run of the session made
    checks_lost: int = 0  # in a row: the kernel no longer finds it, and has not reported how much it transferred

    def end(self, outcome: str) -> None:
        self.outcome, self.seconds = outcome, time.monotonic() - self.began

    def count(self, total_bytes: int) -> None:
        self.bytes = max(self.bytes or 0, total_bytes - self.earlier_bytes)  # threads may tell in any order

    def to_connection(self) -> Connection:
        shown = None if self.address is None else str(self.address)
        return Connection(self.host or None, shown, self.port, self.bytes, round(self.seconds * 1000, 3), self.outcome)


@dataclass(slots=True, eq=False)
class NetworkRun:
    """What the network of one run is, and what the run has done with it. The supervisor's thread changes it."""

    policy: NetworkPolicy
    max_connections: int
    memory_bytes: int
    attempts: list[Attempt] = field(default_factory=list)
    names: dict[Address, set[str]] = field(default_factory=lambda: defaultdict(set))  # that were resolved to it
    resolved: dict[str, asyncio.Future[tuple[Address, ...]]] = field(default_factory=dict)
    denied: dict[str, None] = field(default_factory=dict)  # names and addresses, in order
    connections: int = 0
    live: dict[bytes, tuple[Connected, Attempt]] = field(default_factory=dict)  # connections, by their cookie
    kept: list[Attempt] = field(default_factory=list)  # connections that earlier runs of the session made
    has_ended: bool = False
    closed: dict[bytes, int] = field(default_factory=dict)  # the bytes of those that were closed after it had ended

    @property
    def bytes(self) -> int:
        """What all its connections have transferred."""
        return sum(each.bytes or 0 for each in (*self.attempts, *self.kept))

    @property
    def uncounted(self) -> int:
        """How many connections have ended whose sockets are kept: the kernel tells their bytes when those close."""
        live = [attempt for _, attempt in list(self.live.values())]
        return sum(attempt.checks_lost > 1 and attempt.outcome == "connected" for attempt in live)

    def keep(self, before: NetworkRun) -> None:
        """Take over the connections that the run before has left open. What they transfer from now on is this run's."""
        for cookie, (connected, attempt) in before.live.items():
            total_bytes = attempt.earlier_bytes + (attempt.bytes or 0)
            kept = Attempt(attempt.host, attempt.address, attempt.port, "connected", earlier_bytes=total_bytes)
            self.kept.append(kept)
            if cookie in before.closed:
                kept.count(before.closed[cookie])
            else:
                self.live[cookie] = connected, kept
        before.live.clear()

    def deny(self, host: str, address: Address | None = None, port: int | None = None, outcome: str = "denied") -> None:
        """Record a refused attempt, the same one only once: a script may try in a loop."""
        key = f"{host or address}:{port or ''}"
        if len(self.denied) < MAX_NAMES and key not in self.denied:
            self.denied[key] = None
            self.attempts.append(Attempt(host, address, port, outcome))

    def name_of(self, address: Address) -> str:
        """The name that was resolved to this address, or the empty string."""
        return min(self.names.get(address, ()), default="")

    def connections_made(self) -> tuple[Connection, ...]:
        used = [each for each in self.kept if each.bytes]
        return tuple(each.to_connection() for each in (*used, *self.attempts))
