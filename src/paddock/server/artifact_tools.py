"""What an agent does with artifacts: three tools, as functions from arguments to an answer that becomes JSON.

A failure is an answer too: `success` is false, `error` says what is wrong and `hint` what to do.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from paddock.errors import BadArtifact
from paddock.model.artifacts import NAME_CHARACTERS, Artifact, mime_type, name_problem
from paddock.model.words import nearest
from paddock.store.artifacts import Filters, StoredArtifact
from paddock.store.text import PAGE_CHARACTERS, Query

if TYPE_CHECKING:
    from paddock.store.artifacts import ArtifactScope
    from paddock.store.text import Unit

BASE64_BYTES = 64 * 1024
"""A larger binary is not put into an answer."""
DEFAULT_LIMITS = {"characters": 20_000, "lines": 500, "matches": 50}
MOST_LINES = 10_000
MOST_MATCHES = 200
MOST_CONTEXT = 20
MOST_LISTED = 200

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArtifactTool:
    """How a tool is offered."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    is_read_only: bool


async def call(own: ArtifactScope, name: str, arguments: Mapping[str, Any]) -> Answer:
    """Call the tool `name` with arguments that fit its schema."""
    if name == "read_artifact":
        return await read_artifact(own, **arguments)
    if name == "write_artifact":
        return await write_artifact(own, **arguments)
    return await list_artifacts(own, **arguments)


async def read_artifact(  # noqa: PLR0913  one for each property of its schema
    own: ArtifactScope,
    ref: str,
    *,
    offset: int = 0,
    limit: int | None = None,
    unit: Unit = "characters",
    search: str | None = None,
    smartGrepQuery: str | None = None,  # noqa: N803  its other name, which agents know
    is_regex: bool = False,
    context_lines: int = 2,
) -> Answer:
    """A page of an artifact's text, or what is found in it; a small binary as base64."""
    kept = await own.find(ref)
    if kept is None:
        return await _not_found(own, ref)
    wanted = search if search is not None else smartGrepQuery
    try:
        if wanted is not None:
            most = min(limit or DEFAULT_LIMITS["matches"], MOST_MATCHES)
            context = min(context_lines, MOST_CONTEXT)
            return await _found(own, kept, Query(wanted, is_regex, unit, offset, most, context))
        if not await own.is_text(kept):
            return await _binary(own, kept)
        most = min(limit or DEFAULT_LIMITS[unit], PAGE_CHARACTERS if unit == "characters" else MOST_LINES)
        return await _page(own, kept, unit, offset, most)
    except BadArtifact as refused:
        return _failed(str(refused), "Correct the arguments; without search, offset and limit the text begins.")


async def write_artifact(
    own: ArtifactScope,
    filename: str,
    *,
    content: str | None = None,
    base64: str | None = None,
    file_type: str = "",
    mode: Literal["create", "replace", "append"] = "create",
) -> Answer:
    """Keep text or bytes: as a new artifact, instead of what one has, or at its end."""
    try:
        data = await asyncio.to_thread(_bytes, content, base64)
        # By its name alone only this session's: another session's of that name is nobody's to change by accident.
        kept = None if mode == "create" else await own.find(filename, in_session_only=True)
        if kept is None and mode != "create" and own.is_reference(filename):
            return await _not_found(own, filename)
        if kept is None:
            problem = name_problem(filename)
            if problem is not None:
                return _failed(f"the artifact cannot be called so: {problem}", "Choose another filename.")
            artifact = await own.create(filename, await asyncio.to_thread(mime_type, file_type, filename, data), data)
        elif mode == "replace":
            kind = await asyncio.to_thread(mime_type, file_type, kept.artifact.filename, data)
            artifact = await own.replace(kept, kind, data)
        else:
            artifact = await own.append(kept, data)
    except BadArtifact as refused:
        return _failed(str(refused), "Keep less, or correct the arguments.")
    return {"success": True, **_described(artifact), "created": kept is None}


async def list_artifacts(
    own: ArtifactScope,
    *,
    session_only: bool = False,
    filename: str = "",
    mime_type: str = "",
    limit: int = 50,
    cursor: str | None = None,
) -> Answer:
    """The artifacts that there are, the newest first."""
    try:
        listing = await own.list(Filters(session_only, filename, mime_type), limit=limit, cursor=cursor)
    except BadArtifact as refused:
        return _failed(str(refused), "Give the cursor of the list before as it was, or none.")
    shown = [
        {
            **_described(kept.artifact),
            "createdAt": _time(kept.created_at),
            "expiresAt": _time(kept.expires_at),
            # Not which session: who knows a session's id may be able to use it.
            "inSession": kept.session == own.owner.session,
        }
        for kept in listing.artifacts
    ]
    more = {} if listing.cursor is None else {"cursor": listing.cursor}
    return {"success": True, "artifacts": shown, "more": bool(more), **more}


async def _page(own: ArtifactScope, kept: StoredArtifact, unit: Unit, offset: int, limit: int) -> Answer:
    page = await own.page(kept, unit, offset, limit)
    answer = {"success": True, **_described(kept.artifact), "content": page.text, "unit": unit, "offset": offset}
    answer |= {"line": page.start.line + 1, "more": not page.is_last}
    if page.is_last:
        return answer | {"totalCharacters": page.end.character, "totalLines": page.total_lines}
    if unit == "characters" or page.is_cut:
        return answer | {"next": {"unit": "characters", "offset": page.end.character}}
    return answer | {"next": {"unit": "lines", "offset": page.end.line}}


async def _found(own: ArtifactScope, kept: StoredArtifact, query: Query) -> Answer:
    search = await own.search(kept, query)
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
    answer = {"success": True, **_described(kept.artifact), "matches": matches}
    answer["more"] = search.next_character is not None
    if search.next_character is not None:
        answer["next"] = {"unit": "characters", "offset": search.next_character}
    if search.is_timeout:
        answer["hint"] = "The search took too long and ended at next; go on from there, or search for less."
    elif not matches and not query.is_regex and " " in query.search:
        answer["hint"] = "The words were looked for as they stand; for any of them use is_regex with word|word."
    return answer


async def _binary(own: ArtifactScope, kept: StoredArtifact) -> Answer:
    if kept.artifact.size > BASE64_BYTES:
        return _failed(
            f"the artifact {kept.artifact.filename!r} is binary ({kept.artifact.mime_type}) and has "
            f"{kept.artifact.size} bytes; only one of at most {BASE64_BYTES} is given as base64",
            "Read its bytes in a script, with the function read_artifact.",
        )
    content = b"".join([piece async for piece in own.stream(kept)])
    return {"success": True, **_described(kept.artifact), "base64": base64.b64encode(content).decode()}


async def _not_found(own: ArtifactScope, ref: str) -> Answer:
    newest = await own.list(limit=MOST_LISTED)
    near = nearest(ref[:NAME_CHARACTERS], [kept.artifact.filename for kept in newest.artifacts])
    hint = f"Did you mean {near!r}?" if near else "list_artifacts shows those that there are."
    return _failed(f"there is no artifact {ref[:100]!r}; give the id, the URL or the file name of one", hint)


def _bytes(content: str | None, encoded: str | None) -> bytes:
    if (content is None) == (encoded is None):
        raise BadArtifact("give either content, which is text, or base64")
    try:
        if content is not None:
            return content.encode()
        return base64.b64decode(encoded or "", validate=True)
    except UnicodeEncodeError:
        raise BadArtifact("the content is not Unicode: it has half of a surrogate pair; give base64") from None
    except (binascii.Error, ValueError) as problem:
        raise BadArtifact(f"the content is not base64: {problem}") from None


def _described(artifact: Artifact) -> Answer:
    return {
        "id": artifact.id,
        "url": artifact.url,
        "filename": artifact.filename,
        "mimeType": artifact.mime_type,
        "size": artifact.size,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _failed(error: str, hint: str) -> Answer:
    return {"success": False, "error": error, "hint": hint}


def _schema(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _number(description: str, least: int, most: int | None = None, default: int | None = None) -> dict[str, Any]:
    values = {"type": "integer", "minimum": least, "maximum": most, "default": default, "description": description}
    return {name: value for name, value in values.items() if value not in (None, "")}


_TEXT = {"type": "string"}
_READ = {
    "ref": {**_TEXT, "description": "Id, URL or file name (its newest)."},
    "offset": _number("In `unit`.", 0),
    "limit": _number("Most of `unit`, or matches.", 1),
    "unit": {"enum": ["characters", "lines"], "default": "characters"},
    "search": {**_TEXT, "description": "Lines with these words, in any case."},
    "smartGrepQuery": {**_TEXT, "deprecated": True},  # the name that some agents know `search` by
    "is_regex": {"type": "boolean", "description": "search is RE2."},
    "context_lines": _number("", 0, MOST_CONTEXT, 2),
}
_WRITE = {
    "filename": _TEXT,
    "content": _TEXT,
    "base64": {**_TEXT, "description": "Instead of content."},
    "file_type": {**_TEXT, "description": "csv, json, … or a mime type; else by name."},
    "mode": {
        "enum": ["create", "replace", "append"],
        "default": "create",
        "description": "The last two: this session's newest so named, or by id or URL.",
    },
}
_LIST = {
    "session_only": {"type": "boolean"},
    "filename": {**_TEXT, "description": "As *.csv."},
    "mime_type": {**_TEXT, "description": "As text/*."},
    "limit": _number("", 1, MOST_LISTED, 50),
    "cursor": {**_TEXT, "description": "Of the list before."},
}
_ANSWER = {"type": "object"}
"""docs/artifacts.md says what is in it, which would cost every client more than it helps."""

TOOLS = (
    ArtifactTool(
        "read_artifact",
        "Read an artifact",
        "Read a kept file: a page of its text, or matching lines. Search a large one first; `next` is where to go on.",
        _schema(_READ, ["ref"]),
        _ANSWER,
        is_read_only=True,
    ),
    ArtifactTool(
        "write_artifact",
        "Write an artifact",
        "Keep a file; scripts can read it.",
        _schema(_WRITE, ["filename"]),
        _ANSWER,
        is_read_only=False,
    ),
    ArtifactTool(
        "list_artifacts",
        "List artifacts",
        "List kept files, newest first.",
        _schema(_LIST, []),
        _ANSWER,
        is_read_only=True,
    ),
)
