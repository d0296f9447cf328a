"""What callers do with artifacts: read, search, write, list, attach to a session. Nothing here knows about MCP.

The functions return JSON objects. If `success` is false, `error` says what is wrong and `hint` what to do next. An
attached file is an artifact whose bytes are read again for each run. It remains an artifact when it is detached.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from paddock.definitions.faces import FaceRequest
from paddock.definitions.faces.logs import artifact_fields
from paddock.errors import BadArtifact, BadFile
from paddock.model.artifacts import NAME_CHARACTERS, Artifact, mime_type, name_problem
from paddock.model.files import File
from paddock.model.limits import MB
from paddock.model.spelling import nearest
from paddock.server.sessions import Caller
from paddock.store.artifact_text import PAGE_CHARACTERS, Query
from paddock.store.artifacts import StoredArtifact

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.store.artifact_text import Unit
    from paddock.store.artifacts import ArtifactScope

BASE64_BYTES = 64 * 1024
"""How many bytes are returned as base64 at once."""
IMAGE = "image"
IMAGE_BYTES = 512 * 1024
"""The largest image that is sent. A larger one is a link."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
RUN_ID = re.compile(r"r_[\w-]{16}", re.ASCII)
DEFAULT_LIMITS = {"characters": 20_000, "lines": 500, "matches": 50}
MAX_LINES = 10_000
MAX_MATCHES = 200
MAX_CONTEXT = 20
MAX_LISTED = 200
AFTER_END = 1 << 62
"""An offset after the end of every text."""
RUN_BYTES = 64 * MB
"""Maximum total size of the files of one run."""
MAX_ATTACHED = 100
"""Maximum number of attached files in one session."""

Answer = dict[str, Any]


async def read_artifact(  # noqa: PLR0913  one parameter for each property of its schema
    scope: ArtifactScope,
    ref: str,
    *,
    offset: int = 0,
    limit: int | None = None,
    unit: Unit = "characters",
    encoding: Literal["base64"] | None = None,
    search: str | None = None,
    smartGrepQuery: str | None = None,  # noqa: N803  another name for `search` that some agents use
    is_regex: bool = False,
    context_lines: int = 2,
) -> Answer:
    """Return a page of an artifact's text, or the matches in its text, or a page of its bytes as base64.

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
        if encoding is None and artifact.artifact.mime_type in IMAGE_TYPES and artifact.artifact.size <= IMAGE_BYTES:
            return {"success": True, **artifact_fields(artifact.artifact), IMAGE: True}
        if encoding is not None or not await scope.is_text(artifact):
            page = await _binary(scope, artifact, offset, limit)
            # Without `encoding`, the next page is bytes again because the artifact is binary.
            return page | {"next": {"encoding": encoding, **page["next"]}} if encoding and "next" in page else page
        offset = await _from_start(scope, artifact, unit, offset)
        limit = min(limit or DEFAULT_LIMITS[unit], PAGE_CHARACTERS if unit == "characters" else MAX_LINES)
        return await _page(scope, artifact, unit, offset, limit)
    except BadArtifact as refused:
        return failure(str(refused), "Correct the arguments. With ref alone, the first page is returned.")


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
                return failure(f"the artifact cannot have that name: {problem}", "Choose another filename.")
            artifact = await scope.create(filename, await asyncio.to_thread(mime_type, file_type, filename, data), data)
        elif mode == "replace":
            kind = await asyncio.to_thread(mime_type, file_type, existing.artifact.filename, data)
            artifact = await scope.replace(existing, kind, data)
        else:
            artifact = await scope.append(existing, data)
    except BadArtifact as refused:
        return failure(str(refused), "Store less, or correct the arguments.")
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
        return failure(str(refused), "Pass the cursor of the previous page unchanged, or none.")
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
            **({"count": match.count} if match.count > 1 else {}),
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


async def _binary(scope: ArtifactScope, stored: StoredArtifact, offset: int, limit: int | None) -> Answer:
    """Return a page of an artifact's bytes as base64. `offset` and `limit` count bytes."""
    size = stored.artifact.size
    start = min(offset, size) if offset >= 0 else max(0, size + offset)
    end = min(size, start + min(limit or BASE64_BYTES, BASE64_BYTES))
    content = b"".join([piece async for piece in scope.stream(stored, start, end)]) if start < end else b""
    answer = {"success": True, **artifact_fields(stored.artifact), "base64": base64.b64encode(content).decode()}
    if (start, end) == (0, size):
        return answer
    answer |= {"offset": start, "more": end < size}
    return {**answer, "next": {"offset": end}} if end < size else answer


async def _not_found(scope: ArtifactScope, ref: str) -> Answer:
    newest = await scope.list(limit=MAX_LISTED)
    near = nearest(ref[:NAME_CHARACTERS], [found.artifact.filename for found in newest.artifacts])
    hint = f"Did you mean {near!r}?" if near else "list_artifacts lists all artifacts."
    return failure(f"there is no artifact {ref[:100]!r}; pass an artifact's id, URL or file name", hint)


async def same_names(scope: ArtifactScope, answer: Answer) -> Answer:
    """A hint that other artifacts have the name by which this one was found; empty if none has."""
    listed = (await scope.list(filename=answer["filename"], limit=MAX_LISTED)).artifacts
    found = [each for each in listed if each.artifact.filename == answer["filename"]]  # the filter ignores case
    made = next((_time(each.created_at) for each in found if each.artifact.id == answer["id"]), None)
    if len(found) < 2 or made is None:
        return {}
    hint = f"{len(found)} artifacts have this name; this is {answer['id']}, made {made}. list_artifacts shows all."
    return {"hint": " ".join(filter(None, (answer.get("hint"), hint)))}


def _bytes(content: str | None, encoded: str | None) -> bytes:
    if (content is None) == (encoded is None):
        if content is None:
            raise BadArtifact("content is missing: pass the text, or base64; the server does not read your disk")
        raise BadArtifact("pass either content, which is text, or base64")
    try:
        return base64.b64decode(encoded or "", validate=True) if content is None else content.encode()
    except UnicodeEncodeError:
        raise BadArtifact("the content is not valid Unicode: it contains a lone surrogate; pass base64") from None
    except (binascii.Error, ValueError) as problem:
        raise BadArtifact(f"the content is not base64: {problem}") from None


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def failure(error: str, hint: str) -> Answer:
    return {"success": False, "error": error, "hint": hint}


async def add_files(services: Services, caller: Caller, request: FaceRequest) -> FaceRequest:
    """Add the session's attached files and the named artifacts to the request, before its own files."""
    attached = caller.session.files if caller.session is not None and request.session_files else {}
    refs = list(dict.fromkeys([*attached, *request.artifacts]))
    if not refs:
        return request
    files: dict[str, File] = {}
    size = 0
    for ref in refs:
        file = await _read_file(services, caller, ref, RUN_BYTES - size)
        if file.element_id not in files:
            size += len(file.content)
            files[file.element_id] = file
    all_files = [*files.values(), *(request.options.get("files") or ())]
    return replace(request, options={**request.options, "files": all_files})


def attached_files(caller: Caller) -> list[dict[str, str]]:
    """The files of the caller's session, as prompts and answers list them."""
    attached = {} if caller.session is None else caller.session.files
    return [_file_entry(each) for each in attached.values()]


def _file_entry(artifact: Artifact) -> dict[str, str]:
    return {"element_id": artifact.id, "file_name": artifact.filename, "file_type": artifact.mime_type}


async def _read_file(services: Services, caller: Caller, ref: str, max_bytes: int) -> File:
    scope = services.artifacts.of(caller.owner)
    stored = await scope.find(ref)
    if stored is None:
        raise BadFile(
            f"there is no artifact {ref[:100]!r} to read as a file. list_artifacts shows what exists; attach_file adds "
            "a file, and detach_file removes one that has expired"
        )
    if stored.artifact.size > max_bytes:
        raise BadFile(f"the files of one run may total at most {RUN_BYTES // MB} MB; detach some, or name fewer")
    found = await scope.read(stored.artifact.id)
    if found is None:
        raise BadFile(f"the artifact {ref[:100]!r} has just expired; detach it, or attach the file again")
    artifact, content = found
    return File(artifact.filename, content, artifact.mime_type, artifact.id)


async def attach_file(services: Services, caller: Caller, arguments: Mapping[str, Any]) -> Answer:
    """Attach an artifact to the session, or a new file, which becomes an artifact."""
    scope, session = services.artifacts.of(caller.owner), caller.session
    if session is not None and len(session.files) >= MAX_ATTACHED:
        problem = f"{MAX_ATTACHED} files are already attached, which is the maximum"
        return failure(problem, "Detach those that are not needed.")
    if "artifact" in arguments:
        if len(arguments) > 1:
            return failure("artifact was passed together with a new file", "Pass artifact alone, or a new file.")
        ref = arguments["artifact"]
    elif "file_name" not in arguments:
        return failure("file_name is missing", "Pass file_name with content or base64.")
    else:
        content = {name: value for name, value in arguments.items() if name != "file_name"}
        written = await write_artifact(scope, arguments["file_name"], **content)
        if not written["success"]:
            return written
        ref = written["id"]
    stored = await scope.find(ref)
    if stored is None:
        return await _not_found(scope, ref)
    artifact = stored.artifact
    answer = {"success": True, **_file_entry(artifact), "size": artifact.size}
    if session is None:
        hint = f"Without a session nothing stays attached: pass files={json.dumps([artifact.id])} to each run."
        return {**answer, "attached": False, "hint": hint}
    session.files[artifact.id] = artifact
    return {**answer, "attached": True, "files": attached_files(caller)}


async def detach_file(caller: Caller, ref: str) -> Answer:
    """Detach a file from the session, by its id, URL or name."""
    attached = {} if caller.session is None else caller.session.files
    matches = [each.id for each in attached.values() if ref in (each.id, each.url)]
    matches = matches or [each.id for each in attached.values() if each.filename == ref]
    if not matches:
        near = nearest(ref[:NAME_CHARACTERS], [*attached, *(each.filename for each in attached.values())])
        hint = f"Did you mean {near!r}?" if near else f"Attached: {', '.join(attached) or 'none'}."
        return failure(f"no file {ref[:100]!r} is attached", hint)
    for element_id in matches:
        del attached[element_id]
    return {"success": True, "detached": matches, "files": attached_files(caller)}
