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


ENTRY_CHARACTERS = 16_000
"""The most of a message or traceback that is written: libraries quote what a caller sent, at any length."""


class TextFormatter(logging.Formatter):
    """Writes an entry as text that does nothing to a terminal, and whose further lines cannot be taken for entries."""

    def format(self, record: logging.LogRecord) -> str:
        text = _cut(super().format(record))
        shown = "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
        return shown.replace("\n", "\n    ")


class JsonFormatter(logging.Formatter):
    """Writes an entry as a JSON object on one line, whatever its message contains."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(record.getMessage()),
        }
        values |= {each.name: each.get() for each in (principal, run_id) if each.get(None) is not None}
        values |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            values["exception"] = _cut(self.formatException(record.exc_info))
        return json.dumps(values, default=str)


def configure(log_format: str) -> None:
    """Set up logging in this process, on stderr. As JSON there is an entry for each run, as text only for problems."""
    output = logging.StreamHandler()
    output.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(handlers=[output], force=log_format == "json")
    if log_format == "json":
        logging.getLogger("paddock").setLevel(logging.INFO)


def _cut(text: str) -> str:
    half = ENTRY_CHARACTERS // 2
    return text if len(text) <= ENTRY_CHARACTERS else f"{text[:half]} … {text[-half:]}"
