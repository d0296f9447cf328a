"""The server's tools, their results, and the shortening of results that are too large for a client."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel

from paddock.definitions.faces import (
    PREVIEW_CHARACTERS,
    FaceResponse,
    Overflow,
    count_fitting,
    envelope_response,
    replacement,
    warning_lines,
)
from paddock.model.artifacts import Artifact
from paddock.model.envelope import invalid_arguments, with_meta
from paddock.model.json_depth import depth, flatten
from paddock.model.tools import Hints
from paddock.server.services import Services
from paddock.server.sessions import Caller
from paddock.tools.repair import repair
from paddock.tools.schema import Validator, compile_schema

EVENT_BYTES = 1_000_000
"""Maximum size of an event. The official SDK's client closes its connection if an event has more than 1 MiB."""
SAFE_CHARACTERS = 30_000
"""A text of at most this length always fits into an event: an escaped character has at most 24 bytes."""
TEXT_BYTES = 100_000
"""How much text is kept of a result that is too large and has no structured content."""
PART_BYTES = 10_000
"""How much is kept of each part of a result that is too large and has structured content."""
STRUCTURED_DEPTH = 100
"""How deeply a structured result is nested at most: the SDK's client reads 200 levels, and its server writes 255."""
_DATA = frozenset({"type", "description"})
"""The keywords of an argument that is an object with any content."""
_ANY_VALUE = ("output", "result")
"""Parts of a result that may have any type, so that an artifact can replace them."""
_UNLISTED_BOUNDS = ("minimum", "exclusiveMinimum", "minItems", "maxLength")

Call = Callable[[Caller, dict[str, Any]], Awaitable[CallToolResult]]


def to_result(response: FaceResponse, artifacts: tuple[Artifact, ...] = ()) -> CallToolResult:
    """The response as an MCP result, with links to the artifacts."""
    text, values = response.text, response.structured
    if values is not None:
        whole = json.dumps(values, ensure_ascii=False)
        text = whole if text is None else text
        if depth(whole.encode(errors="replace")) > STRUCTURED_DEPTH:
            values = flatten(values, STRUCTURED_DEPTH)
    content: list[ContentBlock] = [] if text is None else [TextContent(text=text)]
    if response.printed:
        content.append(TextContent(text=f"Printed:\n{response.printed}"))
    if response.warnings:
        content.append(TextContent(text=warning_lines(response.warnings)))
    content += [
        ResourceLink(uri=each.url, name=each.filename, mime_type=each.mime_type, size=each.size) for each in artifacts
    ]
    meta = dict(response.meta) or None
    return CallToolResult(content=content, structured_content=values, is_error=response.is_error, _meta=meta)


def json_result(values: Mapping[str, Any], *, is_error: bool = False) -> CallToolResult:
    """Return `values` as an object and as text: older clients show the text to the model, newer ones the object."""
    return to_result(FaceResponse(structured=dict(values), is_error=is_error))


def envelope_result(envelope: Mapping[str, Any]) -> CallToolResult:
    """Return the result of a failed call, which contains this error envelope."""
    return to_result(envelope_response(envelope))


def with_notes(result: CallToolResult, notes: list[dict[str, Any]]) -> CallToolResult:
    """Return the result, with notes on the arguments that were repaired in `_meta.normalized`."""
    return result.model_copy(update={"meta": {**(result.meta or {}), "normalized": notes}}) if notes else result


@dataclass(frozen=True)
class ServerTool:
    """One tool of the server. `call` gets arguments that the tool's schema accepts."""

    tool: Tool
    call: Call
    refuse: Callable[[Mapping[str, Any]], CallToolResult] = envelope_result
    """Renders the envelope for invalid arguments."""
    normalize: Callable[[dict[str, Any]], dict[str, Any]] = dict
    """Prepares arguments before they are checked."""
    is_compact: bool = False
    """Whether `listing` leaves out bounds and deprecated properties, to save tokens. Calls are still checked."""

    @cached_property
    def validator(self) -> Validator:
        return compile_schema(self.tool.input_schema)

    def check(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]:
        """Check arguments. Return them, notes on what had to be repaired, and the envelope if they are invalid.

        Only a null for an optional argument, and the JSON text of a value that is not a text, are repaired. A float
        where the schema wants an integer, such as 2.0, becomes an int.
        """
        notes: list[dict[str, Any]] = []
        problem = self._problem(arguments)
        if problem is not None:
            repaired, notes = repair(arguments, self.tool.input_schema, only_text=True)
            if repaired != arguments:
                arguments = dict(repaired)
                problem = self._problem(arguments)
        if problem is not None:
            return arguments, notes, with_meta(problem, normalized=notes)
        properties = self.tool.input_schema.get("properties", {})
        for name, value in arguments.items():
            if isinstance(value, float) and value.is_integer() and properties.get(name, {}).get("type") == "integer":
                arguments = {**arguments, name: int(value)}
        return arguments, notes, None

    def _problem(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The envelope for arguments that are invalid, or have too many values to be checked."""
        properties = self.tool.input_schema.get("properties", {})
        # Any object is valid data, so its content need not be looked at.
        checked = {
            name: {} if isinstance(value, dict) and not properties.get(name, {}).keys() - _DATA else value
            for name, value in arguments.items()
        }
        if self.validator.accepts(checked) is None:
            return invalid_arguments(self.tool.name, "The arguments have too many values to be checked: pass fewer.")
        return self.validator.problems(checked, self.tool.name)

    @cached_property
    def listing(self) -> Tool:
        """The tool as `tools/list` shows it."""
        if not self.is_compact:
            return self.tool
        changes: dict[str, Any] = {"input_schema": _compact(self.tool.input_schema)}
        if self.tool.output_schema == {"type": "object"}:
            changes["output_schema"] = None
        return self.tool.model_copy(update=changes)


READS = Hints(read_only=True)


def builtin_tool(
    name: str,
    title: str,
    description: str,
    input_schema: Mapping[str, Any],
    call: Call,
    *,
    output_schema: Mapping[str, Any] | None = None,
    hints: Hints = READS,
    is_compact: bool = True,
) -> ServerTool:
    """Return a built-in tool, which reaches nothing outside the server. A hint that is None is left out."""
    tool = Tool(
        name=name,
        title=title,
        description=description,
        input_schema=dict(input_schema),
        output_schema=None if output_schema is None else dict(output_schema),
        annotations=ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=False,
        ),
    )
    return ServerTool(tool, call, is_compact=is_compact)


def _compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    compact = {name: value for name, value in schema.items() if name not in _UNLISTED_BOUNDS}
    if "properties" in compact:
        properties = compact["properties"].items()
        compact["properties"] = {name: _compact(each) for name, each in properties if not each.get("deprecated")}
    if isinstance(compact.get("items"), Mapping):  # the description of a list names the properties of its items
        compact["items"] = {"type": compact["items"]["type"]}
    if compact.get("additionalProperties") is False:
        del compact["additionalProperties"]
    if not compact.get("required", True):
        del compact["required"]
    return compact


async def truncate_response(services: Services, caller: Caller, tool: Tool, result: CallToolResult) -> CallToolResult:
    """Return `result`, shortened if it is too large for the caller's client.

    Over HTTP a result may be one event, and clients refuse events that are too large. In that case the whole result is
    stored as an artifact, and the client gets the beginning of each part.
    """
    limit = caller.max_bytes
    texts = [each.text for each in result.content if isinstance(each, TextContent)]
    if limit is None or (sum(map(len, texts)) <= SAFE_CHARACTERS and not result.meta):
        return result
    if await asyncio.to_thread(event_bytes, result) <= limit:
        return result
    text, values = "\n".join(texts), result.structured_content
    suffix, mime_type = ("txt", "text/plain") if values is None else ("json", "application/json")
    name, data = f"answer-{secrets.token_hex(6)}.{suffix}", text.encode(errors="replace")
    artifact = await services.store_artifact(caller, name, mime_type, data)
    meta = {name: _cut(name, value, artifact) for name, value in (result.meta or {}).items()}
    short_text = _cut_text(text, artifact, TEXT_BYTES) if values is None else None
    if values is not None and tool.output_schema is None:
        values = _replacement(text, artifact)
    elif values is not None:
        values = {name: _cut(name, value, artifact) for name, value in values.items()}
    response = FaceResponse(short_text, values, bool(result.is_error), meta)
    shortened = to_result(response, () if artifact is None else (artifact,))
    links = [each for each in result.content if not isinstance(each, TextContent)]
    return shortened.model_copy(update={"content": [*shortened.content, *links[:100]]})


def event_bytes(result: BaseModel) -> int:
    """Return the size of `result` in an event, where the SDK escapes every character that is not ASCII."""
    return len(json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True)))


def _cut(name: str, value: Any, artifact: Artifact | None) -> Any:
    """Return the beginning of the part `name`. It has the type of `value`, unless that part may have any type."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(_beginning(text, PART_BYTES)) == len(text):
        return value
    if name in _ANY_VALUE:
        return _replacement(text, artifact)
    if isinstance(value, str):
        return _cut_text(value, artifact, PART_BYTES)
    if isinstance(value, list):
        return value[: count_fitting((len(json.dumps(each)) for each in value), PART_BYTES)]
    return {inner: _cut(inner, each, artifact) for inner, each in value.items()} if isinstance(value, dict) else value


def _replacement(text: str, artifact: Artifact | None) -> dict[str, Any]:
    return replacement(Overflow(artifact, text[:PREVIEW_CHARACTERS]))


def _cut_text(text: str, artifact: Artifact | None, max_bytes: int) -> str:
    where = "could not be stored" if artifact is None else f"is in the artifact {artifact.id}: use read_artifact"
    beginning = _beginning(text, max_bytes)
    return f"{beginning}\n[CUT: {len(text) - len(beginning)} more characters; the whole answer {where}]"


def _beginning(text: str, max_bytes: int) -> str:
    """Return a beginning of `text` that has at most `max_bytes` as JSON."""
    beginning = text[:max_bytes]
    while len(json.dumps(beginning)) - 2 > max_bytes:
        beginning = beginning[: len(beginning) * 3 // 4]
    return beginning
