"""How an upstream is, to show to people.

A server that is itself Paddock is known by `is_paddock`: it calls itself `paddock`, or lists a tool whose `_meta` has
the key `paddock/code_tool` (which becomes a tag of that name). The catalogue refuses both: code that runs code would
escape the limits of its run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from paddock.model.tools import Tool

State = Literal["idle", "connecting", "ready", "failed", "closed"]
CODE_TOOL = "paddock/code_tool"
"""A tool whose `_meta` has this key runs code. It becomes a tag of ours, by which the catalogue refuses to link it."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of one upstream, and what it said of itself. Holds no credential."""

    state: State
    since: float  # seconds since 1970
    error: str = ""
    tools: int = 0
    protocol_version: str = ""
    server_name: str = ""
    server_version: str = ""
    is_paddock: bool = False
    transport: str = ""
    place: str = ""  # the command, or the address
    warnings: tuple[str, ...] = ()


def is_paddock(server_name: str, tools: Iterable[Tool]) -> bool:
    """Whether what a server says of itself is what Paddock says."""
    return server_name.strip().lower() == "paddock" or any(CODE_TOOL in tool.tags for tool in tools)
