"""Tools as their servers describe them. Descriptions are untrusted: an upstream wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

_READING = frozenset({"get", "list", "search", "find", "read", "fetch", "query", "count", "describe", "show", "lookup"})
_FIRST_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
AS_TEXT = "_text"
"""An argument for Paddock, not for the tool: with true, text that is JSON is not parsed."""
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
_KEEP = {
    "python": "`await create_artifact(name, text or bytes)`",
    "javascript": "`await codeExec.createArtifact(name, text or bytes)`",
}
_READ = {
    "python": "`(await read_artifact(name))['content']`",
    "javascript": "`(await codeExec.readArtifact(name)).content`",
}
_DIRECTLY = "is a tool of the server: call it by itself, outside a script"


@dataclass(frozen=True, slots=True)
class Hints:
    """What a tool declares about its effects. None: it declares nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that scripts can call."""

    server: str  # the upstream that offers it; empty for a Python function of the embedding program
    name: str  # without the server's name
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: ANY_OBJECT)
    output_schema: Mapping[str, Any] | None = None
    hints: Hints = Hints()
    tags: tuple[str, ...] = ()
    title: str = ""
    injected: Mapping[str, bool] = field(default_factory=dict)
    """The arguments that the host adds, by name, each with whether the tool requires it."""

    @property
    def full_name(self) -> str:
        """The tool's name in the catalogue: `server.name`."""
        return f"{self.server}.{self.name}" if self.server else self.name

    @property
    def may_write(self) -> bool:
        """Whether a call may change something: as the tool declares, else unless its name begins like `get` or `list`.

        For advice only. A name proves nothing.
        """
        if self.hints.read_only is not None:
            return not self.hints.read_only
        word = _FIRST_WORD.match(self.name)
        return word is None or word[0].lower() not in _READING

    @property
    def id(self) -> str:
        """Six characters derived from the full name. A server can choose a name so that it has the id of another."""
        return self.digest[:6]

    @property
    def digest(self) -> str:
        """An id that no other tool has."""
        from hashlib import sha256  # imported late: it takes 2 ms

        return sha256(self.full_name.encode(errors="replace")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The tool as JSON values, without its schemas."""
        return {
            "name": self.full_name,
            "id": self.id,
            "server": self.server,
            "title": self.title,
            "description": self.description,
            "tags": list(self.tags),
            "hints": asdict(self.hints),
        }


class CallWatch(Protocol):
    """Limits and observes the tool calls of one caller. Its methods neither block nor raise."""

    def take(self) -> float:
        """Count a call and return 0, or return the seconds to wait if the caller has made too many."""
        ...

    def refused(self, tool: Tool, action: str, rule: str) -> None:
        """The policy does not allow a call: `action` is `deny` or `ask`, `rule` the text of the rule."""
        ...

    def ended(self, tool: Tool | None, outcome: str, seconds: float) -> None:
        """A call has ended. `outcome` is `ok`, `cancelled`, or the kind of its error envelope. None: no such tool."""
        ...


class RunTool(Protocol):
    """An extra tool that the caller provides for one run."""

    @property
    def tool(self) -> Tool: ...

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the tool with arguments that its schema allows, and return its value."""
        ...


def server_tool_advice(name: str, language: str) -> str:
    """What a script does instead of calling this tool of the server; empty for any other name."""
    form = "python" if language == "python" else "javascript"
    if name in ("write_artifact", "create_artifact"):
        return f"A script keeps data with {_KEEP[form]}; to append, read the old content and store both."
    if name == "read_artifact":
        return f"A script reads an artifact with {_READ[form]}."
    if name == "list_artifacts":
        return f"`{name}` {_DIRECTLY}. A script reads an artifact with {_READ[form]}."
    return f"`{name}` {_DIRECTLY}." if name in _SERVER_TOOLS else ""


_SERVER_TOOLS = ("search", "get_schema", "tags", "get_run", "cancel_run", "attach_file", "detach_file")
