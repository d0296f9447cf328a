"""The server's log: lines of text by default, or one JSON object a line (`server.log_format`).

An entry that is written for a run or a request carries its run id and its principal.
"""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

FIELDS = ("principal", "run_id", "engine", "verdict", "seconds")
"""The fields that an entry may have besides its message."""
principal: ContextVar[str] = ContextVar("principal")
"""Whose request or run the current task works for."""
run_id: ContextVar[str] = ContextVar("run_id")
"""The run that the current task works for."""


class JsonFormatter(logging.Formatter):
    """Writes an entry as a JSON object on one line, whatever its message contains."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        values |= {each.name: each.get() for each in (principal, run_id) if each.get(None) is not None}
        values |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        return json.dumps(values, default=str)


def configure(log_format: str) -> None:
    """Set up logging in this process: JSON on stderr, with an entry for each run. Text needs no set-up."""
    if log_format != "json":
        return
    output = logging.StreamHandler()
    output.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[output], force=True)
    logging.getLogger("paddock").setLevel(logging.INFO)
