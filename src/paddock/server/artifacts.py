"""Artifacts over MCP: three tools, and each artifact as a resource."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import BlobResourceContents, CallToolResult, Resource, TextResourceContents, Tool, ToolAnnotations

from paddock import artifact_tools
from paddock.model.artifacts import is_text
from paddock.server.caller import Caller
from paddock.server.offer import Offer, told

if TYPE_CHECKING:
    from paddock.server.serving import Serving


def offers(serving: Serving) -> list[Offer]:
    return [_offer(serving, tool) for tool in artifact_tools.TOOLS]


def _offer(serving: Serving, each: artifact_tools.ArtifactTool) -> Offer:
    tool = Tool(
        name=each.name,
        title=each.title,
        description=each.description,
        input_schema=dict(each.input_schema),
        annotations=ToolAnnotations(
            read_only_hint=each.is_read_only, destructive_hint=not each.is_read_only, open_world_hint=False
        ),
    )
    return Offer(tool, partial(_call, serving, each.name))


async def _call(serving: Serving, name: str, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    values = await artifact_tools.call(serving.artifacts.of(caller.owner), name, arguments)
    return told(values, is_error=values.get("success") is False)


async def resources(serving: Serving, caller: Caller, cursor: str | None) -> tuple[list[Resource], str | None]:
    """What the caller keeps, the newest first, a page of it."""
    listing = await serving.artifacts.of(caller.owner).list(limit=100, cursor=cursor)
    found = [
        Resource(uri=made.url, name=made.filename, mime_type=made.mime_type, size=made.size)
        for made in (kept.artifact for kept in listing.kept)
    ]
    return found, listing.cursor


async def contents(serving: Serving, caller: Caller, uri: str) -> TextResourceContents | BlobResourceContents | None:
    """The whole of one artifact; None where the caller has none such."""
    found = await serving.artifacts.of(caller.owner).read(uri)
    if found is None:
        return None
    artifact, content = found
    if is_text(artifact.mime_type, content):
        return TextResourceContents(uri=uri, mime_type=artifact.mime_type, text=content.decode())
    return BlobResourceContents(uri=uri, mime_type=artifact.mime_type, blob=base64.b64encode(content).decode())
