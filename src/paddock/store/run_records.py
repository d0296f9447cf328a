"""A run as it is kept: what is written when it begins, and what is read of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from paddock.errors import BadInput

if TYPE_CHECKING:
    from paddock.model.journal import Intent, Outcome
    from paddock.model.request import Request

GOING_ON = "running"
"""What stands in the place of a verdict while there is none."""


class Everyone(Enum):
    """In the place of a principal: whoever it was. For who owns the file, never for a caller of a server."""

    EVERYONE = "everyone"


EVERYONE = Everyone.EVERYONE


@dataclass(frozen=True, slots=True)
class NewRun:
    """What is kept of a request. Of inputs and attached files nothing is, but in `fingerprint`."""

    id: str
    principal: str
    code: str
    language: str
    session: str | None = None
    definition: str | None = None
    idempotency_key: str | None = None
    fingerprint: str = ""  # tells whether a key that comes again is for the same request
    redact: Callable[[Any], Any] | None = None  # takes secrets out of JSON values before they are written
    redact_json: Callable[[str], str] | None = None  # the same out of JSON text, empty where that cannot be read


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list."""

    id: str
    principal: str
    session: str | None
    definition: str | None
    language: str
    engine: str | None
    started_at: float
    ended_at: float | None
    verdict: str | None  # None while it goes on
    beginning: str  # of its code

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON shows it."""
        return {
            "run_id": self.id,
            "verdict": self.verdict or GOING_ON,
            "principal": self.principal,
            "session": self.session,
            "definition": self.definition,
            "language": self.language,
            "engine": self.engine,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
        }


@dataclass(frozen=True, slots=True)
class StoredRun(RunLine):
    """A run with all that is kept of it. While it goes on there is no result, and the end of what it printed so far."""

    code: str
    idempotency_key: str | None
    stdout_so_far: str
    stderr_so_far: str
    calls: tuple[Mapping[str, Any], ...]  # as in a result; of one without an outcome the status is None
    result_json: str | None

    def to_dict(self) -> dict[str, Any]:
        from paddock.model.nesting import loads

        return {**self._head(), "result": None if self.result_json is None else loads(self.result_json)}

    def to_json(self) -> str:
        """The same as JSON text; the result is spliced in as it is, however deep the script's value."""
        return f'{json.dumps(self._head())[:-1]}, "result": {self.result_json or "null"}}}'

    def _head(self) -> dict[str, Any]:
        shown = {**RunLine.to_dict(self), "code": self.code}
        if self.result_json is not None:
            return shown
        return {**shown, "stdout": self.stdout_so_far, "stderr": self.stderr_so_far, "calls": list(self.calls)}


def fingerprint(request: Request) -> str:
    """A digest of all that makes two requests the same one. Takes a second for each GB that is attached.

    Goes through `files`, `tools`, `argv` and `refused_modules`, which must bear to be gone through again.
    """
    files = [
        [file.file_name, file.file_type, file.element_id, hashlib.sha256(file.content).hexdigest()]
        for file in request.files
    ]
    limits = request.limits if isinstance(request.limits, Mapping | None) else request.limits.to_dict()
    asked = {
        "code": request.code,
        "language": request.language,
        "engine": request.engine,
        "inputs": dict(request.inputs or {}),
        "files": files,
        "tools": None if request.tools is None else list(request.tools),
        "limits": dict(limits or {}),
        "type_check": request.type_check,
        "mode": request.mode,
        "argv": list(request.argv),
        "refused_modules": list(request.refused_modules),
    }
    try:
        text = json.dumps(asked, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadInput(f"the request is not JSON: {problem}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def digest(run_id: str, fingerprint: str) -> str:
    """What is stored of a fingerprint: with the run's id in it, equal requests do not show as equal."""
    return hashlib.sha256(f"{run_id} {fingerprint}".encode()).hexdigest() if fingerprint else ""


def call_of(intent: Intent, outcome: Outcome | None) -> dict[str, Any]:
    """A call of the journal as a result shows it."""
    try:
        arguments = json.loads(intent.arguments_json)
    except (ValueError, RecursionError):
        arguments = {}
    return {
        "id": intent.number,
        "tool": intent.tool,
        "arguments": arguments,
        "status": None if outcome is None else outcome.status,
        "milliseconds": None if outcome is None else outcome.milliseconds,
    }


def with_calls(result_json: str, calls: tuple[Mapping[str, Any], ...]) -> str:
    """A stored result with its calls, which are in the journal alone.

    It is not decoded: a script's value may be nested more deeply than a decoder follows. What comes after the calls in
    a result is the host's, so the last empty list of that name is theirs, whatever the script's value holds.
    """
    before, found, after = result_json.rpartition('"calls":')
    return f"{before}{found}{json.dumps(calls)}{after.lstrip().removeprefix('[]')}" if calls else result_json
