"""The result of a run, the same in the library, with `--json` and over every server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from paddock.model.artifacts import Artifact
from paddock.model.outputs import RunOutput

NOTHING = "Nothing was returned or printed: "
"""How the warning begins about a run that succeeded and has nothing to show."""


class Verdict(StrEnum):
    """How a run ended. There are no other verdicts."""

    OK = "ok"
    RAISED = "raised"  # an uncaught exception
    REJECTED = "rejected"  # a syntax error or a failed static check: nothing ran
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    CRASHED = "crashed"  # a signal, or an exit before the script returned
    DENIED = "denied"  # the policy denied a call, and the script did not catch the failure
    CANCELLED = "cancelled"
    LOST = "lost"  # the host failed


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run failed, with a message that a person or a model can act on."""

    type: str
    message: str
    line: int | None = None
    column: int | None = None
    traceback: str = ""
    envelope: Mapping[str, Any] | None = None
    hints: tuple[str, ...] = ()
    """What to change in the script, a sentence each; empty if there is nothing to add to the message."""

    @property
    def hint(self) -> str:
        """The hints as one text."""
        return " ".join(self.hints)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a run."""

    id: int
    tool: str
    arguments: Mapping[str, Any]
    status: str
    milliseconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection that a script made or tried to make, or a name that it may not resolve."""

    host: str | None  # None: the script gave an address
    address: str | None
    port: int | None
    bytes: int | None  # in both directions; None if nothing was connected or it could not be counted
    milliseconds: float  # until it was connected, or failed
    outcome: str  # connected, connecting, refused, timeout, failed, denied (by the policy), limit (too many)


@dataclass(frozen=True, slots=True)
class Usage:
    """What the run used. A value is None if the engine does not measure it."""

    wall_seconds: float
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    output_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SessionState:
    """The session that a run took place in, after the run."""

    name: str
    cell: int  # which run of the session it was, counted from 1; 0 if it did not take place
    kept: bool  # whether the session lives on
    reason: str | None = None  # why it does not


@dataclass(frozen=True)
class RunResult:
    """How one run ended. `output` is decoded from `output_json` on first access."""

    run_id: str
    verdict: Verdict
    language: str
    engine: str | None
    engine_reason: str | None
    usage: Usage
    output_json: str | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: tuple[str, ...] = ()  # those of stdout, stderr, output and logs of which a part was dropped
    logs: tuple[Mapping[str, str], ...] = ()
    outputs: tuple[RunOutput, ...] = ()  # figures, tables and other values that the script displayed, in order
    error: RunError | None = None
    warnings: tuple[str, ...] = ()
    """What the script probably did not intend, such as a call that was never awaited. Each is one sentence."""
    exit_code: int | None = None
    signal: int | None = None
    calls: tuple[Call, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    network: tuple[Connection, ...] = ()
    available_functions: tuple[str, ...] = ()
    definition: str | None = None
    session: SessionState | None = None
    connection: str | None = None
    """The id of the MCP client's connection to a server."""

    @cached_property
    def output(self) -> Any:
        """The script's result as Python values."""
        if self.output_json is None:
            return None
        return json.loads(self.output_json)

    def _repr_html_(self) -> str:
        """How a notebook shows the result."""
        from paddock.model.notebook import to_html

        return to_html(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """The result whose JSON form is `text`. Raises ValueError, KeyError or RecursionError if it is not one."""
        import msgspec

        values = msgspec.convert(json.loads(text), dict[str, Any])
        output, displayed = values.pop("output"), values.pop("outputs")
        values["output_json"] = None if output is None else json.dumps(output)
        try:
            outputs = tuple(map(RunOutput.from_values, displayed))
        except TypeError as problem:
            raise ValueError(f"not an output: {problem}") from None
        return replace(msgspec.convert(values, cls), outputs=outputs)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, with the keys of its JSON form."""
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    def to_json(self) -> str:
        """The result as JSON text. The script's value is inserted without decoding it."""
        import msgspec

        raw = msgspec.Raw((self.output_json or "null").encode())
        values = {name: raw if name == "output" else getattr(self, name) for name in _KEYS}
        values["outputs"] = [output.to_values() for output in self.outputs]
        try:
            return msgspec.json.encode(values).decode()
        except UnicodeEncodeError:  # a lone surrogate in an argument or a message
            decoded = [{**output.to_values(), "data": output.data} for output in self.outputs]
            return json.dumps(msgspec.to_builtins({**values, "output": self.output, "outputs": decoded}))


_KEYS = (
    *("run_id", "verdict", "output", "stdout", "stderr", "truncated", "logs", "outputs", "error", "warnings"),
    *("exit_code", "signal", "language", "engine", "engine_reason", "calls", "artifacts", "network"),
    *("available_functions", "definition", "session", "connection", "usage"),
)
"""The keys of the JSON form, in their order."""
