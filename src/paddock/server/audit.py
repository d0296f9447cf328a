"""The audit log: who authenticated, what the policy refused, and what operators changed. One JSON object a line.

It is `audit.jsonl` beside the store, with mode 0600, and is only ever appended to. The file is opened for each entry,
so it may be moved away at any time. No entry contains a secret, code or arguments.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.store.database import store_path
from paddock.tools.policy import RateLimit

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.server.authentication import Identity, Unauthorized

FILE_NAME = "audit.jsonl"
FAILURES_PER_MINUTE = 60
"""At most this many failed authentications a minute are recorded: anybody can cause them. The rest are counted."""
REPEAT_SECONDS = 3600.0
"""A token that is used repeatedly from one address is recorded once in this time."""
MAX_KNOWN = 10_000
TEXT_CHARACTERS = 500
log = logging.getLogger(__name__)


class Audit:
    """The audit log of a configuration. Several processes may write to it at the same time."""

    def __init__(self, config: Config) -> None:
        self.path = store_path(config).with_name(FILE_NAME)
        self._failures = RateLimit(FAILURES_PER_MINUTE)
        self._left_out = 0
        self._known: OrderedDict[tuple[str, ...], float] = OrderedDict()  # when each was recorded, oldest first

    def record(self, event: str, **values: Any) -> None:
        """Append an entry. A failure to do so is logged: what the entry reports has happened already."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        for name, value in values.items():
            if value not in (None, ""):
                entry[name] = value[:TEXT_CHARACTERS] if isinstance(value, str) else value
        try:
            _append(self.path, f"{json.dumps(entry)}\n".encode())
        except OSError as problem:
            log.warning(
                "the audit log %s cannot be written (%s); the event %s is missing from it",
                self.path,
                problem.strerror,
                event,
            )

    def record_command(self, event: str, **values: Any) -> None:
        """Record a change that a command on this machine made, and which user ran the command."""
        self.record(event, by=f"uid {os.getuid()}", **values)

    def authenticated(self, identity: Identity, address: str) -> None:
        """Record that a token was accepted."""
        key, now = (identity.principal, identity.token, address), time.monotonic()
        if now - self._known.get(key, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return
        self._known.pop(key, None)
        self._known[key] = now
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        self.record("auth.accepted", principal=identity.principal, token=identity.token, address=address)

    def refused(self, problem: Unauthorized, address: str) -> None:
        """Record that a request was not authenticated."""
        if self._failures.take():
            self._left_out += 1
            return
        left_out, self._left_out = self._left_out, 0
        self.record(
            "auth.refused", reason=str(problem), token=problem.token, address=address, left_out=left_out or None
        )


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # O_NOFOLLOW: whoever may write to the folder must not make this process append to another file.
    # O_NONBLOCK: nor wait for somebody to read a named pipe.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, line)  # one call, so that entries of several processes do not mix
    finally:
        os.close(descriptor)
