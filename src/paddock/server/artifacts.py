"""Artifacts over MCP: three tools, and each artifact as a resource.

A resource is sent in one message, so a large artifact is refused before any of it is read; the tools page it.
"""

from __future__ import annotations

import asyncio
import base64
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from paddock.errors import BadArtifact
from paddock.model.artifacts import is_text
from paddock.server import artifact_tools
from paddock.server.caller import Caller
from paddock.server.offer import Offer, told

if TYPE_CHECKING:
    from paddock.server.serving import Serving

MB = 1024 * 1024
RESOURCE_BYTES = 4 * MB
PAGE = 100
Contents = TextResourceContents | BlobResourceContents


def offers(serving: Serving) -> list[Offer]:
    return [_offer(serving, tool) for tool in artifact_tools.TOOLS]


def _offer(serving: Serving, each: artifact_tools.ArtifactTool) -> Offer:
    tool = Tool(
        name=each.name,
        title=each.title,
        description=each.description,
        input_schema=dict(each.input_schema),
        output_schema=dict(each.output_schema),
        # What is not said may write, and destroy.
        annotations=ToolAnnotations(read_only_hint=each.is_read_only or None, open_world_hint=False),
    )
    return Offer(tool, partial(_call, serving, each.name), is_short=True)


async def _call(serving: Serving, name: str, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    values = await artifact_tools.call(serving.artifacts.of(caller.owner), name, arguments)
    return told(values, is_error=values.get("success") is False)


async def resources(serving: Serving, caller: Caller, cursor: str | None) -> tuple[list[Resource], str | None]:
    """What the caller keeps, the newest first, a page of it."""
    listing = await serving.artifacts.of(caller.owner).list(limit=PAGE, cursor=cursor)
    found = [
        Resource(uri=made.url, name=made.filename, mime_type=made.mime_type, size=made.size)
        for made in (kept.artifact for kept in listing.artifacts)
    ]
    return found, listing.cursor


def templates(serving: Serving) -> list[ResourceTemplate]:
    """How the address of an artifact is made of its id."""
    uri, described = serving.artifacts.url_of("{id}"), f"A kept file of at most {RESOURCE_BYTES // MB} MB, by its id."
    return [ResourceTemplate(uri_template=uri, name="artifact", title="Artifact", description=described)]


async def contents(serving: Serving, caller: Caller, uri: str) -> Contents | None:
    """The whole of one artifact; None where the caller has none such. `BadArtifact` for one that is too large."""
    own = serving.artifacts.of(caller.owner)
    kept = await own.find(uri) if own.is_reference(uri) else None
    if kept is None:
        return None
    # Escaped or in base64 it grows; what is one event of a stream may not be larger than a client takes.
    most = RESOURCE_BYTES if caller.most_bytes is None else caller.most_bytes // 2
    if kept.artifact.size > most:
        raise BadArtifact(
            f"the artifact {kept.artifact.filename!r} has {kept.artifact.size} bytes, and a resource is read up to "
            f"{most} bytes here; page or search it with the tool read_artifact"
        )
    content = b"".join([piece async for piece in own.stream(kept)])
    return await asyncio.to_thread(_as_resource, uri, kept.artifact.mime_type, content)


def _as_resource(uri: str, kind: str, content: bytes) -> Contents:
    if is_text(kind, content):
        return TextResourceContents(uri=uri, mime_type=kind, text=content.decode())
    return BlobResourceContents(uri=uri, mime_type=kind, blob=base64.b64encode(content).decode())
