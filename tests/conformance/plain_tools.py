"""Tools of the suite that only answer: offers of our own server, called as any other tool of it is."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
    Tool,
)

from paddock.errors import RequestError
from paddock.server.sessions import Caller
from paddock.server.tool import ServerTool

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def wav() -> bytes:
    """One sample of silence."""
    form = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<Ih", 2, 0)
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


IMAGE = ImageContent(data=base64.b64encode(png()).decode(), mime_type="image/png")
AUDIO = AudioContent(data=base64.b64encode(wav()).decode(), mime_type="audio/wav")


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def text(said: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=said)])


def offers() -> list[ServerTool]:
    return [
        _saying("test_simple_text", TextContent(text="This is a simple text response for testing.")),
        _saying("test_image_content", IMAGE),
        _saying("test_audio_content", AUDIO),
        _saying(
            "test_embedded_resource",
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
        ),
        _saying(
            "test_multiple_content_types",
            TextContent(text="Multiple content types test:"),
            IMAGE,
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ),
        _saying("json_schema_2020_12_tool", TextContent(text="It fits."), schema=SCHEMA_2020_12),
        ServerTool(_tool("test_tool_with_progress"), _progress),
        ServerTool(_tool("test_error_handling"), _failing),
        ServerTool(_tool("test_x_mcp_header", REGION), _region),
    ]


def _tool(name: str, schema: Mapping[str, Any] = EMPTY) -> Tool:
    return Tool(name=name, description=f"What the suite calls as {name}.", input_schema=dict(schema))


def _saying(name: str, *content: ContentBlock, schema: Mapping[str, Any] = EMPTY) -> ServerTool:
    async def said(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        return CallToolResult(content=list(content))

    return ServerTool(_tool(name, schema), said)


async def _progress(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    for done in (0, 50, 100):
        await caller.report(done, 100, f"{done} of 100")
    return text("It has come to its end.")


async def _failing(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    raise RequestError("This tool intentionally returns an error for testing")


async def _region(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    return text(f"region={arguments.get('region')}")
