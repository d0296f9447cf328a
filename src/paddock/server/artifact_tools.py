"""The tools `read_artifact`, `write_artifact` and `list_artifacts`, and artifacts as MCP resources.

The tools return JSON objects. If `success` is false, `error` says what is wrong and `hint` what to do next.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from mcp_types import BlobResourceContents, CallToolResult, Resource, ResourceTemplate, TextResourceContents

from paddock.definitions.faces import FaceResponse, object_schema
from paddock.definitions.faces.logs import artifact_fields
from paddock.errors import BadArtifact
from paddock.model.artifacts import NAME_CHARACTERS, Artifact, is_text, mime_type, name_problem
from paddock.model.limits import MB, format_bytes
from paddock.model.spelling import nearest
from paddock.model.tools import Hints
from paddock.server.images import IMAGE_BYTES, IMAGE_TYPES
from paddock.server.sessions import Caller
from paddock.server.tool import READS, ServerTool, builtin_tool, event_bytes, to_result
from paddock.store.artifact_text import PAGE_CHARACTERS, Query
from paddock.store.artifacts import StoredArtifact

if TYPE_CHECKING:
    from paddock.definitions.definition import Definition
    from paddock.server.services import Services
    from paddock.store.artifact_text import Unit
    from paddock.store.artifacts import ArtifactScope

BASE64_BYTES = 64 * 1024
"""The largest binary artifact that is returned as base64."""
IMAGE = "image"
RUN_ID = re.compile(r"r_[\w-]{16}", re.ASCII)
DEFAULT_LIMITS = {"characters": 20_000, "lines": 500, "matches": 50}
MAX_LINES = 10_000
MAX_MATCHES = 200
MAX_CONTEXT = 20
MAX_LISTED = 200
AFTER_END = 1 << 62
"""An offset after the end of every text."""
RESOURCE_BYTES = 4 * MB
RESOURCES_PAGE = 100

Answer = dict[str, Any]
Contents = TextResourceContents | BlobResourceContents


async def read_artifact(  # noqa: PLR0913  one parameter for each property of its schema
    scope: ArtifactScope,
    ref: str,
    *,
    offset: int = 0,
    limit: int | None = None,
    unit: Unit = "characters",
    search: str | None = None,
    smartGrepQuery: str | None = None,  # noqa: N803  another name for `search` that some agents use
    is_regex: bool = False,
    context_lines: int = 2,
) -> Answer:
    """Return a page of an artifact's text, or the matches in its text, or a small binary as base64.

    For an image, the result has the key IMAGE: the server adds the image itself.
    """
    artifact = await scope.find(ref)
    if artifact is None:
        return await _not_found(scope, ref)
    text = search if search is not None else smartGrepQuery
    try:
        if text is not None:
            offset = await _from_start(scope, artifact, unit, offset)
            limit = min(limit or DEFAULT_LIMITS["matches"], MAX_MATCHES)
            query = Query(text, is_regex, unit, offset, limit, min(context_lines, MAX_CONTEXT))
            return await _search(scope, artifact, query)
        if artifact.artifact.mime_type in IMAGE_TYPES and artifact.artifact.size <= IMAGE_BYTES:
            return {"success": True, **artifact_fields(artifact.artifact), IMAGE: True}
        if not await scope.is_text(artifact):
            return await _binary(scope, artifact)
        offset = await _from_start(scope, artifact, unit, offset)
        limit = min(limit or DEFAULT_LIMITS[unit], PAGE_CHARACTERS if unit == "characters" else MAX_LINES)
        return await _page(scope, artifact, unit, offset, limit)
    except BadArtifact as refused:
        return _failed(str(refused), "Correct the arguments. With ref alone, the first page is returned.")


async def write_artifact(
    scope: ArtifactScope,
    filename: str,
    *,
    content: str | None = None,
    base64: str | None = None,
    file_type: str = "",
    mode: Literal["create", "replace", "append"] = "create",
) -> Answer:
    """Write text or bytes: create an artifact, replace the content of an existing one, or append to it."""
    try:
        data = await asyncio.to_thread(_bytes, content, base64)
        # A name finds only artifacts of this session, so that none of another session is changed by accident.
        existing = None if mode == "create" else await scope.find(filename, in_session_only=True)
        if existing is None and mode != "create" and scope.is_reference(filename):
            return await _not_found(scope, filename)
        if existing is None:
            problem = name_problem(filename)
            if problem is not None:
                return _failed(f"the artifact cannot have that name: {problem}", "Choose another filename.")
            artifact = await scope.create(filename, await asyncio.to_thread(mime_type, file_type, filename, data), data)
        elif mode == "replace":
            kind = await asyncio.to_thread(mime_type, file_type, existing.artifact.filename, data)
            artifact = await scope.replace(existing, kind, data)
        else:
            artifact = await scope.append(existing, data)
    except BadArtifact as refused:
        return _failed(str(refused), "Store less, or correct the arguments.")
    return {"success": True, **artifact_fields(artifact), "created": existing is None}


async def list_artifacts(
    scope: ArtifactScope,
    *,
    session_only: bool = False,
    filename: str = "",
    mime_type: str = "",
    limit: int = 50,
    cursor: str | None = None,
) -> Answer:
    """List artifacts, newest first."""
    try:
        listing = await scope.list(
            session_only=session_only, filename=filename, mime_type=mime_type, limit=limit, cursor=cursor
        )
    except BadArtifact as refused:
        return _failed(str(refused), "Pass the cursor of the previous page unchanged, or none.")
    entries = [
        {
            **artifact_fields(stored.artifact),
            "createdAt": _time(stored.created_at),
            "expiresAt": _time(stored.expires_at),
            # The session's id is not shown, because knowing it may allow using the session.
            "inSession": stored.session == scope.owner.session,
        }
        for stored in listing.artifacts
    ]
    next_page = {} if listing.cursor is None else {"cursor": listing.cursor}
    return {"success": True, "artifacts": entries, "more": bool(next_page), **next_page}


async def _from_start(scope: ArtifactScope, stored: StoredArtifact, unit: Unit, offset: int) -> int:
    """Return the offset counted from the start of the text. A negative one counts from its end."""
    if offset >= 0:
        return offset
    end = await scope.page(stored, unit, AFTER_END, 1)
    total = end.end.character if unit == "characters" else end.total_lines or 0
    return max(0, total + offset)


async def _page(scope: ArtifactScope, stored: StoredArtifact, unit: Unit, offset: int, limit: int) -> Answer:
    page = await scope.page(stored, unit, offset, limit)
    answer = {"success": True, **artifact_fields(stored.artifact), "content": page.text, "unit": unit, "offset": offset}
    answer |= {"line": page.start.line + 1, "more": not page.is_last}
    if page.is_last:
        return answer | {"totalCharacters": page.end.character, "totalLines": page.total_lines}
    if unit == "characters" or page.is_cut:
        return answer | {"next": {"unit": "characters", "offset": page.end.character}}
    return answer | {"next": {"unit": "lines", "offset": page.end.line}}


async def _search(scope: ArtifactScope, stored: StoredArtifact, query: Query) -> Answer:
    search = await scope.search(stored, query)
    matches = [
        {
            "line": match.line,
            "offset": match.offset,
            "text": match.text,
            **({"before": match.before} if match.before else {}),
            **({"after": match.after} if match.after else {}),
        }
        for match in search.matches
    ]
    answer = {"success": True, **artifact_fields(stored.artifact), "matches": matches}
    answer["more"] = search.next_character is not None
    if search.next_character is not None:
        answer["next"] = {"unit": "characters", "offset": search.next_character}
    if search.is_timeout:
        answer["hint"] = "The search took too long and stopped at `next`. Continue from there, or search for less."
    elif not matches and not query.is_regex and " " in query.search:
        answer["hint"] = "The words were searched as one phrase. To find any of them, use is_regex with word|word."
    return answer


async def _binary(scope: ArtifactScope, stored: StoredArtifact) -> Answer:
    if stored.artifact.size > BASE64_BYTES:
        return _failed(
            f"the artifact {stored.artifact.filename!r} is binary ({stored.artifact.mime_type}) and has "
            f"{format_bytes(stored.artifact.size)}; at most {format_bytes(BASE64_BYTES)} are returned as base64",
            "Read its bytes in a script, with the function read_artifact.",
        )
    content = b"".join([piece async for piece in scope.stream(stored)])
    return {"success": True, **artifact_fields(stored.artifact), "base64": base64.b64encode(content).decode()}


async def _not_found(scope: ArtifactScope, ref: str) -> Answer:
    newest = await scope.list(limit=MAX_LISTED)
    near = nearest(ref[:NAME_CHARACTERS], [found.artifact.filename for found in newest.artifacts])
    hint = f"Did you mean {near!r}?" if near else "list_artifacts lists all artifacts."
    return _failed(f"there is no artifact {ref[:100]!r}; pass an artifact's id, URL or file name", hint)


async def _read_run(services: Services, caller: Caller, scope: ArtifactScope, arguments: Mapping[str, Any]) -> Answer:
    """Read what a run printed, else its value. Each part of its output is stored as an artifact."""
    run_id = arguments["ref"]
    run = None if await scope.find(run_id) else await services.store.runs.get(caller.principal, run_id)
    if run is None:
        return await read_artifact(scope, **arguments)
    result = (await asyncio.to_thread(run.to_dict))["result"]
    if result is None:
        return _failed(f"the run {run_id} has not ended", "get_run shows its output so far.")
    output = "" if result["output"] is None else await asyncio.to_thread(json.dumps, result["output"])
    parts = {"stdout": result["stdout"], "output": output, "stderr": result["stderr"]}
    stored = [await services.store_part(caller, run_id, *part, is_repeat=True) for part in parts.items() if part[1]]
    artifacts = [each for each in stored if each is not None]
    if not artifacts:
        return _failed(f"the run {run_id} printed and returned nothing", "get_run shows how it ended.")
    answer = await read_artifact(scope, **{**arguments, "ref": artifacts[0].id})
    more = [each.filename for each in artifacts[1:]]
    return {**answer, "hint": f"The run's other output: {', '.join(more)}."} if more else answer


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


def _bytes(content: str | None, encoded: str | None) -> bytes:
    if (content is None) == (encoded is None):
        raise BadArtifact("pass either content, which is text, or base64")
    try:
        return base64.b64decode(encoded or "", validate=True) if content is None else content.encode()
    except UnicodeEncodeError:
        raise BadArtifact("the content is not valid Unicode: it contains a lone surrogate; pass base64") from None
    except (binascii.Error, ValueError) as problem:
        raise BadArtifact(f"the content is not base64: {problem}") from None


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _failed(error: str, hint: str) -> Answer:
    return {"success": False, "error": error, "hint": hint}


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
                answer = await _read_run(services, caller, scope, arguments)
            else:
                answer = await function(scope, **arguments)
            if function is write_artifact and answer["success"] and how_to_read:
                answer["hint"] = how_to_read.format(ref=answer["id"])
            images = () if IMAGE not in answer else (Artifact(*(answer[name] for name in _ARTIFACT_FIELDS)),)
            return to_result(FaceResponse(structured=answer, is_error=not answer["success"]), images)

        # The output schema is short, because it is sent to every client. docs/artifacts.md lists the fields.
        output_schema, name = {"type": "object"}, function.__name__
        return builtin_tool(name, title, description, schema, call, output_schema=output_schema, hints=hints)

    read = "Read part of a stored file, or search it. To continue, pass what is in `next`."
    return [
        tool(read_artifact, "Read an artifact", read, _READ, READS),
        replace(
            tool(write_artifact, "Write an artifact", "Store a file that scripts can read.", _WRITE, Hints()),
            normalize=_with_text,
        ),
        tool(list_artifacts, "List artifacts", "List stored files, newest first.", _LIST, READS),
    ]


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
