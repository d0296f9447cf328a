"""What a server offers: tools of MCP with what a call of each does."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent, Tool

from paddock.model.artifacts import Artifact
from paddock.server.caller import Caller
from paddock.tools.schema import Validator, compiled

Call = Callable[[Caller, dict[str, Any]], Awaitable[CallToolResult]]


def answer(
    text: str | None,
    structured: Mapping[str, Any] | None = None,
    *,
    is_error: bool = False,
    artifacts: tuple[Artifact, ...] = (),
    meta: Mapping[str, Any] | None = None,
) -> CallToolResult:
    """What a client gets: a text, an object, and links to what was made."""
    content: list[ContentBlock] = [] if text is None else [TextContent(text=text)]
    content += [
        ResourceLink(uri=made.url, name=made.filename, mime_type=made.mime_type, size=made.size) for made in artifacts
    ]
    values = None if structured is None else dict(structured)
    return CallToolResult(content=content, structured_content=values, is_error=is_error, _meta=dict(meta or {}) or None)


def told(values: Mapping[str, Any], *, is_error: bool = False) -> CallToolResult:
    """An object, and the same as text: older clients show a model the text, newer ones the object."""
    return answer(json.dumps(values, ensure_ascii=False), values, is_error=is_error)


def failed(envelope: Mapping[str, Any]) -> CallToolResult:
    """What is wrong with a call, as an envelope."""
    return answer(json.dumps(envelope, ensure_ascii=False), is_error=True)


@dataclass(frozen=True)
class Offer:
    """One tool. `call` gets arguments that fit the tool's schema."""

    tool: Tool
    call: Call
    refused: Callable[[Mapping[str, Any]], CallToolResult] = failed
    """How arguments that do not fit are told."""

    @cached_property
    def check(self) -> Validator:
        return compiled(self.tool.input_schema)
