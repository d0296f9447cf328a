"""Files that a session has attached: two tools to attach and detach one, and how runs get them.

A file is an artifact: its bytes are read anew for each run, and it stays one when it is detached.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.faces.face import Asked
from paddock.errors import BadFile
from paddock.model.artifacts import Artifact
from paddock.model.files import File
from paddock.model.words import nearest
from paddock.server import artifact_tools
from paddock.server.caller import Caller
from paddock.server.offer import Offer, told

if TYPE_CHECKING:
    from paddock.server.serving import Serving

MB = 1024 * 1024
RUN_BYTES = 64 * MB
"""Of all files that one run is given."""
ATTACHED = 100
"""In one session."""


def offers(serving: Serving) -> list[Offer]:
    attach = Tool(
        name="attach_file",
        title="Attach a file",
        description=(
            "Attach a file, which scripts then find in `files` until it is detached. It is kept as an artifact; "
            "element_id is its id. Give content for text, base64 for other bytes, or artifact for one that is kept."
        ),
        input_schema=_ATTACH,
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    )
    detach = Tool(
        name="detach_file",
        title="Detach a file",
        description="Detach a file: scripts no longer find it. It is still kept as an artifact.",
        input_schema=_DETACH,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
    return [Offer(attach, partial(_attach, serving)), Offer(detach, _detach)]


async def with_files(serving: Serving, caller: Caller, asked: Asked) -> Asked:
    """`asked` with what is attached to the session and the artifacts that it names, before its own files."""
    attached = caller.session.files if caller.session is not None and asked.uses_files else {}
    refs = list(dict.fromkeys([*attached, *asked.artifacts]))
    if not refs:
        return asked
    files: dict[str, File] = {}
    size = 0
    for ref in refs:
        file = await _read(serving, caller, ref, RUN_BYTES - size)
        if file.element_id not in files:
            size += len(file.content)
            files[file.element_id] = file
    every = [*files.values(), *(asked.options.get("files") or ())]
    return replace(asked, options={**asked.options, "files": every})


def entries(caller: Caller) -> list[dict[str, str]]:
    """What is attached to the caller's session, as a prompt and an answer tell it."""
    attached = {} if caller.session is None else caller.session.files
    return [
        {"element_id": made.id, "file_name": made.filename, "file_type": made.mime_type} for made in attached.values()
    ]


async def _read(serving: Serving, caller: Caller, ref: str, room_bytes: int) -> File:
    own = serving.artifacts.of(caller.owner)
    kept = await own.find(ref)
    if kept is None:
        raise BadFile(
            f"there is no artifact {ref[:100]!r} to read as a file: attach_file keeps one, list_artifacts shows those "
            "that there are, and detach_file takes one away that has expired"
        )
    if kept.artifact.size > room_bytes:
        raise BadFile(f"the files of one run may have {RUN_BYTES // MB} MB together; detach some, or name fewer")
    found = await own.read(kept.artifact.id)
    if found is None:
        raise BadFile(f"the artifact {ref[:100]!r} has just expired")
    artifact, content = found
    return File(artifact.filename, content, artifact.mime_type, artifact.id)


async def _attach(serving: Serving, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    own = serving.artifacts.of(caller.owner)
    session = caller.session
    if session is not None and len(session.files) >= ATTACHED:
        return _failed(f"{ATTACHED} files are attached, the most there may be", "Detach those that are not needed.")
    if "artifact" in arguments:
        if len(arguments) > 1:
            return _failed("give artifact alone, or a new file", "Leave out the other arguments.")
        kept = await own.find(arguments["artifact"])
        if kept is None:
            return _failed(
                f"there is no artifact {arguments['artifact'][:100]!r}", "list_artifacts shows those that there are."
            )
        made = kept.artifact
    else:
        if "file_name" not in arguments:
            return _failed("file_name is missing", "Give file_name with content or base64.")
        given = {name: value for name, value in arguments.items() if name != "file_name"}
        answer = await artifact_tools.write_artifact(own, arguments["file_name"], **given)
        if answer["success"] is False:
            return told(answer, is_error=True)
        made = Artifact(answer["id"], answer["filename"], answer["mimeType"], answer["size"], answer["url"])
    if session is not None:
        session.files[made.id] = made
    said = {
        "success": True,
        "element_id": made.id,
        "file_name": made.filename,
        "file_type": made.mime_type,
        "size": made.size,
    }
    if session is None:
        hint = f"Without a session nothing stays attached: give each run the argument files, {json.dumps([made.id])}."
        return told({**said, "attached": False, "hint": hint})
    return told({**said, "attached": True, "files": entries(caller)})


async def _detach(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    asked = arguments["element_id"]
    attached = {} if caller.session is None else caller.session.files
    found = [made.id for made in attached.values() if asked in (made.id, made.url)]
    found = found or [made.id for made in attached.values() if made.filename == asked]
    if not found:
        near = nearest(asked[:255], [*attached, *(made.filename for made in attached.values())])
        known = ", ".join(attached) or "none"
        hint = f"Did you mean {near!r}?" if near else f"Attached: {known}."
        return _failed(f"no file {asked[:100]!r} is attached", hint)
    for name in found:
        del attached[name]
    return told({"success": True, "detached": found, "files": entries(caller)})


def _failed(error: str, hint: str) -> CallToolResult:
    return told({"success": False, "error": error, "hint": hint}, is_error=True)


_ATTACH = {
    "type": "object",
    "properties": {
        "file_name": {"type": "string", "description": "Its name."},
        "content": {"type": "string", "description": "Its content, where that is text."},
        "base64": {"type": "string", "description": "Its content in base64, where it is not."},
        "file_type": {"type": "string", "description": "csv, json, … or a mime type; else by the name."},
        "artifact": {"type": "string", "description": "Instead: an artifact, by its id, its URL or its file name."},
    },
    "additionalProperties": False,
}
_DETACH = {
    "type": "object",
    "properties": {"element_id": {"type": "string", "description": "As attach_file answered it, or the file's name."}},
    "required": ["element_id"],
    "additionalProperties": False,
}
