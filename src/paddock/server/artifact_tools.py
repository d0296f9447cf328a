"""Artifacts and attached files as MCP tools, and artifacts as MCP resources."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import BlobResourceContents, CallToolResult, Resource, ResourceTemplate, TextResourceContents

from paddock.definitions.faces import FaceResponse, object_schema
from paddock.errors import BadArtifact
from paddock.model.artifacts import Artifact, is_text
from paddock.model.limits import MB, format_bytes
from paddock.model.tools import Hints
from paddock.server.artifacts import (
    IMAGE,
    IMAGE_BYTES,
    IMAGE_TYPES,
    MAX_CONTEXT,
    MAX_LISTED,
    RUN_ID,
    Answer,
    attach_file,
    detach_file,
    list_artifacts,
    read_artifact,
    same_names,
    write_artifact,
)
from paddock.server.images import scaled_image, with_copies
from paddock.server.runs import read_run_output
from paddock.server.sessions import Caller
from paddock.server.tool import READS, ServerTool, builtin_tool, event_bytes, to_result

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.server.services import Services

RESOURCE_BYTES = 4 * MB
RESOURCES_PAGE = 100

Contents = TextResourceContents | BlobResourceContents


def _with_text(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `write_artifact` with JSON text instead of an object or a list."""
    content = arguments.get("content")
    text = json.dumps(content, ensure_ascii=False) if isinstance(content, dict | list) else None
    return arguments if text is None else {**arguments, "content": text}


def _how_scripts_read(definitions: Sequence[Definition]) -> str:
    """How scripts of these code tools read an artifact. Empty if they cannot."""
    faces = {each.face for each in definitions}
    python = "`(await read_artifact('{ref}'))['content']`" if faces & {"native", "execute", "inputs"} else ""
    javascript = "`(await codeExec.readArtifact('{ref}')).content`" if faces & {"native", "logs"} else ""
    both = f"{python}, in JavaScript {javascript}" if python and javascript else python or javascript
    return f"A script reads it with {both}." if both else ""


def _number(
    description: str, minimum: int | None, maximum: int | None = None, default: int | None = None
) -> dict[str, Any]:
    values = {"type": "integer", "minimum": minimum, "maximum": maximum, "default": default, "description": description}
    return {name: value for name, value in values.items() if value not in (None, "")}


_ARTIFACT_FIELDS = ("id", "filename", "mimeType", "size", "url")
_TEXT = {"type": "string"}
_READ = object_schema(
    {
        "ref": {**_TEXT, "description": "Id, URL or file name; or a run_id, for that run's output."},
        "offset": _number("In `unit`; negative: from the end.", None),
        "limit": _number("How many units, or matches.", 1),
        "unit": {"enum": ["characters", "lines"], "default": "characters"},
        # Not listed, to save tokens: binary content is read as base64 anyway.
        "encoding": {"enum": ["base64"], "deprecated": True},
        "search": {**_TEXT, "description": "Text to find, ignoring case."},
        "smartGrepQuery": {**_TEXT, "deprecated": True},  # another name for `search` that some agents use
        "is_regex": {"type": "boolean", "description": "`search` is a regex (RE2)."},
        "context_lines": _number("", 0, MAX_CONTEXT, 2),
    },
    ["ref"],
)
_WRITE = object_schema(
    {
        "filename": _TEXT,
        "content": _TEXT,
        "base64": {**_TEXT, "description": "Instead of content."},
        "file_type": {**_TEXT, "description": "csv, json, … or a MIME type."},
        "mode": {
            "enum": ["create", "replace", "append"],
            "default": "create",
            "description": "To replace or append, filename may be an id or URL.",
        },
    },
    ["filename"],
)
_LIST = object_schema(
    {
        "session_only": {"type": "boolean"},
        "filename": {**_TEXT, "description": "Like *.csv."},
        "mime_type": _TEXT,
        "limit": _number("", 1, MAX_LISTED, 50),
        "cursor": _TEXT,
    }
)


def list_artifact_tools(services: Services, definitions: Sequence[Definition] = ()) -> list[ServerTool]:
    """The three tools as clients call them. `definitions` are the code tools offered with them."""
    how_to_read = _how_scripts_read(definitions)

    def tool(
        function: Callable[..., Awaitable[Answer]],
        title: str,
        description: str,
        schema: Mapping[str, Any],
        hints: Hints,
    ) -> ServerTool:
        async def call(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
            scope = services.artifacts.of(caller.owner)
            if function is read_artifact and RUN_ID.fullmatch(arguments["ref"]):
                read = partial(read_run_output, services, caller, arguments)
                answer = await services.in_turn(caller, read, of="results")
            else:
                answer = await function(scope, **arguments)
            if function is read_artifact and answer["success"] and arguments["ref"] == answer["filename"]:
                answer |= await same_names(scope, answer)
            if function is write_artifact and answer["success"] and how_to_read:
                answer["hint"] = how_to_read.format(ref=answer["id"])
            if function is read_artifact and arguments.keys() == {"ref"}:
                return await _with_copy(services, caller, answer)
            return _to_result(answer)

        # The output schema is short, because it is sent to every client. docs/artifacts.md lists the fields.
        output_schema, name = {"type": "object"}, function.__name__
        return builtin_tool(name, title, description, schema, call, output_schema=output_schema, hints=hints)

    description = "Read part of a stored file, or search it. To continue, pass what is in `next`."
    return [
        tool(read_artifact, "Read an artifact", description, _READ, READS),
        replace(
            tool(write_artifact, "Write an artifact", "Store a file that scripts can read.", _WRITE, Hints()),
            normalize=_with_text,
        ),
        tool(list_artifacts, "List artifacts", "List stored files, newest first.", _LIST, READS),
    ]


def _to_result(answer: Answer) -> CallToolResult:
    """Return the answer as an MCP result. The link to an image makes the server add the image itself."""
    images = () if IMAGE not in answer else (Artifact(*(answer[name] for name in _ARTIFACT_FIELDS)),)
    return to_result(FaceResponse(structured=answer, is_error=not answer["success"]), images)


async def _with_copy(services: Services, caller: Caller, answer: Answer) -> CallToolResult:
    """Return the answer as an MCP result, with a smaller copy of a large image instead of its first bytes."""
    if answer.get("mimeType") not in IMAGE_TYPES or answer["size"] <= IMAGE_BYTES:
        return _to_result(answer)
    image = await scaled_image(services, caller, answer["url"], answer["size"])
    if image is None:
        return _to_result(answer)
    fields = {name: answer[name] for name in ("success", *_ARTIFACT_FIELDS)}
    return with_copies(_to_result({**fields, IMAGE: True}), {answer["url"]: image})


async def list_resources(services: Services, caller: Caller, cursor: str | None) -> tuple[list[Resource], str | None]:
    """Return one page of the caller's artifacts, newest first, and the cursor of the next page if there is one."""
    listing = await services.artifacts.of(caller.owner).list(limit=RESOURCES_PAGE, cursor=cursor)
    artifacts = [stored.artifact for stored in listing.artifacts]
    resources = [
        Resource(uri=each.url, name=each.filename, mime_type=each.mime_type, size=each.size) for each in artifacts
    ]
    return resources, listing.cursor


def resource_template(services: Services) -> ResourceTemplate:
    """The template for the URI of an artifact."""
    return ResourceTemplate(
        uri_template=services.artifacts.url_of("{id}"),
        name="artifact",
        title="Artifact",
        description=f"An artifact of at most {format_bytes(RESOURCE_BYTES)}, by its id.",
    )


async def read_resource(services: Services, caller: Caller, uri: str) -> Contents | None:
    """Return one whole artifact, or None if the caller has no such artifact.

    Raises BadArtifact if the artifact is too large, because a resource is sent in one message.
    """
    scope = services.artifacts.of(caller.owner)
    stored = await scope.find(uri) if scope.is_reference(uri) else None
    if stored is None:
        return None
    limit = RESOURCE_BYTES if caller.max_bytes is None else caller.max_bytes // 2
    if stored.artifact.size <= limit:
        content = b"".join([piece async for piece in scope.stream(stored)])
        contents = await asyncio.to_thread(_to_contents, uri, stored.artifact.mime_type, content)
        # Escaping enlarges the content, and the client does not accept a larger event.
        if caller.max_bytes is None or await asyncio.to_thread(event_bytes, contents) <= caller.max_bytes:
            return contents
    raise BadArtifact(
        f"the artifact {stored.artifact.filename!r} has {format_bytes(stored.artifact.size)}, and a resource may have "
        f"at most {format_bytes(limit)} here, or less if some must be escaped; page or search it with read_artifact"
    )


def _to_contents(uri: str, mime_type: str, content: bytes) -> Contents:
    if is_text(mime_type, content):
        return TextResourceContents(uri=uri, mime_type=mime_type, text=content.decode())
    return BlobResourceContents(uri=uri, mime_type=mime_type, blob=base64.b64encode(content).decode())


def list_file_tools(services: Services) -> list[ServerTool]:
    """`attach_file` and `detach_file`."""

    async def attach(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        return _to_result(await attach_file(services, caller, arguments))

    async def detach(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        return _to_result(await detach_file(caller, arguments["element_id"]))

    return [
        builtin_tool(
            "attach_file",
            "Attach a file",
            "Attach a file: scripts find it in `files` until it is detached. Pass file_name with content or base64, or "
            "artifact alone for a stored file. It is stored as an artifact, whose id is its element_id.",
            object_schema(
                {
                    "file_name": {**_TEXT, "description": "The name of a new file."},
                    "content": {**_TEXT, "description": "The content of a text file."},
                    "base64": {**_TEXT, "description": "The content of any other file, in base64."},
                    "file_type": {**_TEXT, "description": "csv, json, … or a MIME type; default: by file_name."},
                    "artifact": {**_TEXT, "description": "Instead of a new file: an artifact's id, URL or file name."},
                }
            ),
            attach,
            hints=Hints(read_only=False, destructive=False),
            is_compact=False,
        ),
        builtin_tool(
            "detach_file",
            "Detach a file",
            "Detach a file: scripts no longer find it. It remains stored as an artifact.",
            object_schema(
                {
                    "element_id": {
                        **_TEXT,
                        "description": "The element_id that attach_file returned, or the file's name.",
                    }
                },
                ["element_id"],
            ),
            detach,
            hints=Hints(read_only=False, destructive=False, idempotent=True),
            is_compact=False,
        ),
    ]
