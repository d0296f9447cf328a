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
from paddock.tools.schema import Validator, compile_schema

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
    is_short: bool = False
    """Whether clients are told less of what it takes than is checked. For tools of our own, whose schemas are plain."""

    @cached_property
    def check(self) -> Validator:
        return compile_schema(self.tool.input_schema)

    @cached_property
    def listed(self) -> Tool:
        """The tool as clients read it: every model pays for each word. What is left out is checked all the same."""
        if not self.is_short:
            return self.tool
        return self.tool.model_copy(update={"input_schema": _short(self.tool.input_schema)})


_EXPECTED = ("minimum", "exclusiveMinimum", "minItems", "maxLength")
"""Bounds that nobody crosses who means what a field is for."""


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of our own without what goes without saying, and without what is deprecated."""
    short = {name: value for name, value in schema.items() if name not in _EXPECTED}
    if "properties" in short:
        properties = short["properties"].items()
        short["properties"] = {name: _short(each) for name, each in properties if not each.get("deprecated")}
    if isinstance(short.get("items"), Mapping):
        short["items"] = _short(short["items"])
    if short.get("additionalProperties") is False:
        del short["additionalProperties"]
    if not short.get("required", True):
        del short["required"]
    return short
